// What a cache of builds is, wherever it lies: results of actions by key, and the bytes of their files by
// digest. Entries never change: another result has another key. The exception is a hint (ResultHints), whose
// loss costs a miss. Terms: Remote Execution API v2 (ActionCache, ContentAddressableStorage).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

struct CachedFile {
  std::string name;    // what follows the unit's name: ".compute_80.ptx"; without end of line
  std::string digest;  // SHA-256 of its bytes, 64 hex digits
  uint64_t bytes = 0;
  uint64_t milliseconds = 0;  // as of StoredFile
  bool operator==(const CachedFile&) const = default;
};

struct ActionResult {
  std::vector<CachedFile> outputs;
  bool operator==(const ActionResult&) const = default;
};

// A list of records: so many at most, the newest first, all of one name.
inline constexpr size_t k_most_records = 4;
inline constexpr const char* k_record = "record";

// Keys are 64 hex digits. Nothing here fails: what cannot be read is absent, what cannot be written is not
// cached. Answers have the order of the questions.
class ActionCache {
 public:
  virtual ~ActionCache() = default;
  virtual std::vector<std::optional<ActionResult>> find(const std::vector<std::string>& keys) const = 0;
  // Whether there is an entry; what is in it may be damaged.
  virtual std::vector<bool> has(const std::vector<std::string>& keys) const = 0;
  virtual void put(const std::string& key, const ActionResult& result) const = 0;
  // An entry whose files are lost.
  virtual void forget(const std::string& key) const = 0;
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;
  virtual std::vector<std::optional<std::string>> find(const std::vector<std::string>& digests) const = 0;
  virtual std::vector<bool> has(const std::vector<std::string>& digests) const = 0;
  // Whether they are there now.
  virtual bool put(const std::string& digest, std::string_view bytes) const = 0;
};

}  // namespace dsbuild
