// The interface of a store of the shared cache, on a server or in a folder that machines share: small files
// by kind and digest. Terms: Remote Execution API v2 (ActionCache, ContentAddressableStorage). The caller
// checks each answer (remote/mirror.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dsbuild {

enum class RemoteKind {
  ac,   // an ActionResult message by the key of its action
  cas,  // bytes by their SHA-256
};

struct RemoteName {
  RemoteKind kind;
  std::string digest;  // 64 hex digits
  // The size of a requested file of `cas`, for stores whose digests contain it; 0: unknown.
  uint64_t bytes = 0;
  bool operator==(const RemoteName&) const = default;
};

// "ac/<digest>": below a URL, a prefix or a folder.
inline const char* kind_folder(RemoteKind kind) {
  return kind == RemoteKind::ac ? "ac/" : "cas/";
}
inline std::string path_of(const RemoteName& name) {
  return kind_folder(name.kind) + name.digest;
}

struct RemoteFile {
  RemoteName name;
  std::string bytes;
};

struct RemoteAnswer {
  enum class State {
    done,     // found, or stored
    absent,   // the store works, and has no such file
    refused,  // no permission for this (401, 403, a read-only folder), or no room left (507)
    failed,   // no answer, or a malformed one
  };
  State state = State::failed;
  std::string bytes = {};  // of a file that was found
  std::string why = {};    // for refused and failed: one line for the user, without secrets
};

// All functions may be called from any thread. Each takes many files, which the store handles at the same
// time where it can. Answers have the order of the arguments. For each file, a call takes no longer than the
// store's deadline.
class RemoteStore {
 public:
  virtual ~RemoteStore() = default;
  virtual std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) = 0;
  virtual std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) = 0;
  // Whether the files are there: done or absent.
  virtual std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) = 0;
  // Whether an entry may contain small files, which are then not stored separately.
  virtual bool takes_contents() const { return true; }
  // Whether there are credentials for put(), as far as this machine can tell; may take a second.
  virtual bool may_put() { return true; }
  // How many requests it has sent; nullopt: one for each file.
  virtual std::optional<uint64_t> requests() const { return std::nullopt; }
  // Ends the calls of other threads; later ones fail at once.
  virtual void cancel() = 0;
};

}  // namespace dsbuild
