// The cache that builds use: results of actions by key, with their files' bytes, in a folder that all build
// folders share (cache/local_cache.h). A shared cache may be above it (cache/upstream.h). Also statistics,
// pruning and clearing of the folder.
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
  std::string name;  // the part after the unit's name: ".compute_80.ptx"; has no line break
  std::string bytes;
  // CPU time of the tools that made this file, and the files after it that have 0. For a whole call of nvcc,
  // its wall time. 0: not known.
  uint64_t milliseconds = 0;
  bool operator==(const StoredFile&) const = default;
};
using CacheEntry = std::vector<StoredFile>;

// A result that an edge found in the cache.
struct CacheHit {
  std::string result;         // its key; "": unknown
  uint64_t milliseconds = 0;  // that its tools took to make it
  std::string output;         // the edge's output
  bool operator==(const CacheHit&) const = default;
};

// Which of the results that builds needed were in the cache.
struct CacheUses {
  unsigned long long hits = 0, misses = 0;
  // How many steps of a build ran for each reason: the difference between their inputs and those of the last
  // such step in the cache.
  std::map<std::string, unsigned long long> differences = {};
  std::vector<CacheHit> found = {};
  uint64_t saved_milliseconds() const;
  bool operator==(const CacheUses&) const = default;
};

struct CacheStats {
  unsigned long long entries = 0, bytes = 0;  // results; bytes of all files on disk
  CacheCounts counts;                         // of builds that needed a result
  bool operator==(const CacheStats&) const = default;
};

struct CacheRemoval {
  unsigned long long entries = 0, bytes = 0;
  bool operator==(const CacheRemoval&) const = default;
};

class TieredCache {
 public:
  // `upstream`: the shared cache. It is asked for results that are not in the local cache, and gets each new
  // one. nullptr: there is none.
  TieredCache(FileSystem& files, Path path, std::shared_ptr<Upstream> upstream = {})
      : files_(files),
        folder_(files, std::move(path)),
        actions_(folder_),
        blobs_(folder_),
        upstream_(std::move(upstream)) {}

  void share_with(std::shared_ptr<Upstream> upstream) { upstream_ = std::move(upstream); }

  // `key`: 64 hex digits. Marks the entry and its files as used. An entry that is damaged, of a different
  // version, of a different key, or lacks a file is removed and counts as absent.
  std::optional<CacheEntry> find(const std::string& key) const;
  // Whether there is an entry for the key; it may be damaged.
  bool has(const std::string& key) const;
  // An entry that cannot be written is not cached (a full disk, a read-only folder, a different user's
  // folder).
  void put(const std::string& key, const CacheEntry& entry) const;
  // The records of a key, the newest first. Each is of a different state of the headers, as after a switch
  // between branches. A record is a blob of its own. Their list is a hint: if two machines add a record at
  // the same time, one may lose its record, which costs a miss.
  std::vector<std::string> find_records(const std::string& key) const;
  void put_record(const std::string& key, const std::string& record) const;
  // For a caller to which none of these records applies. Whether the shared cache had further ones, which
  // find_records then returns, too.
  bool fetch_records(const std::string& key) const { return fetch(UpstreamKind::records, key); }
  void fetch_records_together(const std::vector<std::string>& keys) const {
    if (upstream_) upstream_->fetch_together(UpstreamKind::records, keys);
  }
  // A text that many results share, by its SHA-256. nullopt: it is not there.
  std::optional<std::string> find_text(const std::string& digest) const;
  void put_text(const std::string& digest, const std::string& text) const;

  // All results and lists of records. Errors: those of check(), and of reading.
  Result<std::vector<UpstreamItem>> items() const;

  // Error: exit 2 `foreign_cache_dir` if the folder has files and is no cache.
  Result<void> check() const { return folder_.check(); }
  // All numbers are 0 if there is no folder yet. Errors: those of check(), and of reading.
  Result<CacheStats> stats() const;
  // If the entries have more than `limit` bytes, removes those whose last use is longest ago, until nine
  // tenths of `limit` are left. Also removes files that a killed process left half written. Errors: those of
  // check(), and of reading and removing.
  Result<CacheRemoval> prune(unsigned long long limit) const;
  Result<CacheRemoval> clear() const;  // removes every entry, and the counts; errors as prune()

  // Changes the counts, if the folder is a cache by now.
  void count(const std::function<void(CacheCounts&)>& change) const {
    if (folder_.is_ours()) update_counts(folder_.path(), files_, change);
  }
  // For the end of a build that needed a result. Counts the build, and prunes the cache if it may be too
  // large.
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

// Each step of a build is a process of its own, in the build folder. It appends its hits and misses to a file
// there, and the build sums them up at its end. take_cache_uses reads that file and removes it.
void note_cache_hit(const CacheHit& hit, FileSystem& files);
void note_cache_miss(FileSystem& files);
void note_cache_difference(std::string_view what, FileSystem& files);
CacheUses take_cache_uses(const Path& build_dir, FileSystem& files);

}  // namespace dsbuild
