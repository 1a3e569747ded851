// Results of build steps by key, with their files' bytes, in a folder that all build folders share
// (cache/local_cache.h), and what is done with that folder as a whole.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/counts.h"
#include "cache/local_cache.h"
#include "cache/upstream.h"
#include "sys/file_system.h"

namespace dsbuild {

struct StoredFile {
  std::string name;  // what follows the unit's name: ".compute_80.ptx"; without end of line
  std::string bytes;
  // CPU time of the tools that made it, and those after it that have none of their own. Of a whole call of
  // nvcc: its wall time. 0: not known.
  uint64_t milliseconds = 0;
  bool operator==(const StoredFile&) const = default;
};
using CacheEntry = std::vector<StoredFile>;

// A result that an edge found.
struct CacheHit {
  std::string result;         // its key; "": it is not known
  uint64_t milliseconds = 0;  // that its tools took
  std::string output;         // of the edge
  bool operator==(const CacheHit&) const = default;
};

// What builds found there of what they needed.
struct CacheUses {
  unsigned long long hits = 0, misses = 0;
  // Of a build's steps: what was no longer as when the same step was kept, and of how many.
  std::map<std::string, unsigned long long> differences = {};
  std::vector<CacheHit> found = {};
  uint64_t saved_milliseconds() const;
  bool operator==(const CacheUses&) const = default;
};

struct CacheStats {
  unsigned long long entries = 0, bytes = 0;  // results; bytes of all files on disk
  CacheCounts counts;                         // of builds that needed something
  bool operator==(const CacheStats&) const = default;
};

struct CacheRemoval {
  unsigned long long entries = 0, bytes = 0;
  bool operator==(const CacheRemoval&) const = default;
};

class TieredCache {
 public:
  // `upstream`: what is not here is asked for there, and what is put here goes there; nullptr: there is none.
  TieredCache(FileSystem& files, Path path, std::shared_ptr<Upstream> upstream = {})
      : files_(files),
        folder_(files, std::move(path)),
        actions_(folder_),
        blobs_(folder_),
        upstream_(std::move(upstream)) {}

  void share_with(std::shared_ptr<Upstream> upstream) { upstream_ = std::move(upstream); }

  // `key`: 64 hex digits. Marks the entry and its files as used. One that is damaged, of another version or
  // another key's content, or that lacks a file, is removed and counts as absent.
  std::optional<CacheEntry> find(const std::string& key) const;
  // Whether there is a file for the key; what is in it may be damaged.
  bool has(const std::string& key) const;
  // An entry that cannot be written (a full disk, a read-only folder, another user's folder) is just not
  // cached.
  void put(const std::string& key, const CacheEntry& entry) const;
  // Records of the same key, each of another state of the headers, as when branches are switched: the newest
  // first. A record is a blob of its own. Their list is a hint: of two machines that add one at once, one may
  // lose its own, which costs a miss.
  std::vector<std::string> find_records(const std::string& key) const;
  void put_record(const std::string& key, const std::string& record) const;
  // Where none of those holds: whether upstream has others, which find_records has then, too.
  bool fetch_records(const std::string& key) const { return fetch(UpstreamKind::records, key); }
  void fetch_records_together(const std::vector<std::string>& keys) const {
    if (upstream_) upstream_->fetch_together(UpstreamKind::records, keys);
  }
  // A text that many results share, by its SHA-256.
  std::optional<std::string> find_text(const std::string& digest) const;
  void put_text(const std::string& digest, const std::string& text) const;

  // All that is there. Errors: those of check(), and of reading.
  Result<std::vector<UpstreamItem>> items() const;

  // Error: exit 2 `foreign_cache_dir` when the folder holds files and is no store.
  Result<void> check() const { return folder_.check(); }
  // The value is empty where there is no folder yet. Errors: those of check(), and of reading.
  Result<CacheStats> stats() const;
  // Where the entries are more than `limit` bytes: removes those that were not used for longest, down to nine
  // tenths of it. And files that a killed process left half written. Errors: those of check(), and of
  // reading and removing.
  Result<CacheRemoval> prune(unsigned long long limit) const;
  Result<CacheRemoval> clear() const;  // every entry, and the counts; errors as prune()

  // Adds to the counts, where the folder is a cache by now.
  void count(const std::function<void(CacheCounts&)>& change) const {
    if (folder_.is_ours()) update_counts(folder_.path(), files_, change);
  }
  // At the end of a build that needed something: counts it, and prunes where what was put may be too much.
  void end_build(const CacheUses& uses, unsigned long long limit) const;

 private:
  std::optional<CacheEntry> find_here(const std::string& key) const;
  bool fetch(UpstreamKind what, const std::string& name) const {
    return upstream_ && upstream_->fetch(what, name);
  }
  void tell(UpstreamKind what, const std::string& name) const {
    if (upstream_) upstream_->added(what, name);
  }

  FileSystem& files_;
  LocalFolder folder_;
  LocalActionCache actions_;
  LocalBlobStore blobs_;
  std::shared_ptr<Upstream> upstream_;
};

// Each step of a build runs in a process of its own, in the build folder: it notes there what it found, and
// the build sums that up at its end. take_cache_uses forgets what it has read.
void note_cache_hit(const CacheHit& hit, FileSystem& files);
void note_cache_miss(FileSystem& files);
void note_cache_difference(std::string_view what, FileSystem& files);
CacheUses take_cache_uses(const Path& build_dir, FileSystem& files);

}  // namespace dsbuild
