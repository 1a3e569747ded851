// The interfaces of a cache of builds. ActionCache maps the key of an action to its result, BlobStore a
// digest to a file's bytes. Entries never change: a different result has a different key. The exception is a
// list of records: it is a hint, whose loss costs a miss. Terms: Remote Execution API v2 (ActionCache,
// ContentAddressableStorage).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

struct CachedFile {
  std::string name;    // the part after the unit's name: ".compute_80.ptx"; has no line break
  std::string digest;  // SHA-256 of its bytes, 64 hex digits
  uint64_t bytes = 0;
  uint64_t milliseconds = 0;  // as StoredFile::milliseconds
  bool operator==(const CachedFile&) const = default;
};

struct ActionResult {
  std::vector<CachedFile> outputs;
  bool operator==(const ActionResult&) const = default;
};

// A list of records has at most k_most_records, the newest first. Each has the name k_record.
inline constexpr size_t k_most_records = 4;
inline constexpr const char* k_record = "record";

// Keys are 64 hex digits. Nothing here fails: a file that cannot be read counts as absent, one that cannot be
// written is not cached. Answers have the order of the questions.
class ActionCache {
 public:
  virtual ~ActionCache() = default;
  virtual std::vector<std::optional<ActionResult>> find(const std::vector<std::string>& keys) const = 0;
  // Whether there are entries; they may be damaged.
  virtual std::vector<bool> has(const std::vector<std::string>& keys) const = 0;
  virtual void put(const std::string& key, const ActionResult& result) const = 0;
  // Removes an entry, because its files are lost.
  virtual void forget(const std::string& key) const = 0;
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;
  virtual std::vector<std::optional<std::string>> find(const std::vector<std::string>& digests) const = 0;
  virtual std::vector<bool> has(const std::vector<std::string>& digests) const = 0;
  // Whether the blob is in the store now.
  virtual bool put(const std::string& digest, std::string_view bytes) const = 0;
};

}  // namespace dsbuild
