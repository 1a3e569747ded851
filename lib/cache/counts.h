// How often the builds on this machine found results in caches, as a sum over all builds: the file `counts`
// in the cache's folder. Builds add to it under a kernel lock (counts.lock), so builds that end at the same
// time lose nothing. On a disk without locks (NFS), one of two such builds may lose its numbers. If the file
// is damaged, or of a different version, the counts begin again at 0.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// Of a shared cache.
struct RemoteCounts {
  uint64_t hits = 0, misses = 0;                // results that builds requested from it
  uint64_t received_bytes = 0, sent_bytes = 0;  // of files, compressed as they were sent
  uint64_t requests = 0;                        // files that were requested or sent
  uint64_t uploads = 0;                         // results that were sent
  uint64_t renewals = 0;                        // entries that were written again because they were old
  uint64_t saved_milliseconds = 0;              // that tools took to make the results that came from there
  uint64_t lost = 0;                            // entries whose files were gone
  uint64_t damaged = 0, untrusted = 0;  // entries that were refused: wrong bytes; no trusted signature
  uint64_t fallbacks = 0;               // builds that stopped using it
  bool operator==(const RemoteCounts&) const = default;
};

struct CacheCounts {
  uint64_t builds = 0, failed_builds = 0;  // that had something to do; those of them that made no bundle
  uint64_t build_milliseconds = 0;         // wall time
  uint64_t hits = 0, misses = 0;           // edges, in the cache on this machine
  uint64_t saved_milliseconds = 0;         // that tools took to make the results that were found
  uint64_t last_hits = 0, last_misses = 0, last_saved_milliseconds = 0;  // of the last build alone
  uint64_t last_build_milliseconds = 0, last_build_failed = 0;
  uint64_t last_build_at = 0;                       // seconds since the epoch; 0: there was none
  std::map<std::string, RemoteCounts> remote = {};  // by scope, at most k_most_scopes and k_other_scopes
  std::string last_fallback = {};  // why the last such build stopped using the shared cache; one line
  bool operator==(const CacheCounts&) const = default;
};

inline constexpr size_t k_most_scopes = 64;
inline constexpr const char* k_other_scopes = "(others)";
inline constexpr const char* k_counts_file = "counts";

// A number and its name in the file.
template <class Counts>
struct CountRow {
  const char* name;
  uint64_t Counts::* number;
};
const std::vector<CountRow<CacheCounts>>& cache_count_rows();
const std::vector<CountRow<RemoteCounts>>& remote_count_rows();

RemoteCounts sum_of(const std::map<std::string, RemoteCounts>& scopes);
// The counts of a scope, for the caller to change. Adds the scope if it is new; after k_most_scopes scopes,
// the counts are those of k_other_scopes.
RemoteCounts& counts_of_scope(CacheCounts& counts, const std::string& scope);
void add(RemoteCounts& sum, const RemoteCounts& more);

// Pure. A damaged text gives empty counts.
std::string render_counts(const CacheCounts& counts);
CacheCounts parse_counts(std::string_view text);

// `folder`: of a cache (cache/local_cache.h). If it cannot be written, nothing is counted.
CacheCounts read_counts(const Path& folder, const FileReader& files);
void update_counts(const Path& folder, FileSystem& files, const std::function<void(CacheCounts&)>& change);

}  // namespace dsbuild
