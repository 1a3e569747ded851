// A cache on another machine, or in a folder that machines share: small files by kind and digest. Terms:
// Remote Execution API v2 (ActionCache, ContentAddressableStorage). Its caller checks
// each answer (remote/mirror.h).
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
  uint64_t bytes = 0;  // of a file of `cas` that is asked for, for stores whose digests hold it; 0: not known
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
    absent,   // the store works, and has none
    refused,  // it does not allow this direction (401, 403, a read-only folder), or has no room for more
              // (507)
    failed,   // no answer, or none that makes sense
  };
  State state = State::failed;
  std::string bytes = {};  // of a file that was found
  std::string why = {};    // of refused and failed: one line for a user, without secrets
};

// All from any thread. Answers have the order of the questions; many are asked at once. None takes longer
// than the store's own deadline for each file.
class RemoteStore {
 public:
  virtual ~RemoteStore() = default;
  virtual std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) = 0;
  virtual std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) = 0;
  // Whether they are there: done or absent.
  virtual std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) = 0;
  // Whether an entry may have small files in itself that are nowhere else there.
  virtual bool takes_contents() const { return true; }
  // Whether we have what put() needs, as far as is known here; it may take a second to find out.
  virtual bool may_put() { return true; }
  // Requests that it has sent; nullopt: one for each file.
  virtual std::optional<uint64_t> requests() const { return std::nullopt; }
  // Ends what runs in other threads; what is asked later fails at once.
  virtual void cancel() = 0;
};

}  // namespace dsbuild
