// What builds on this machine have found in caches, added up over all of them: the file `counts` of the
// cache's folder. Builds add to it under a kernel lock (counts.lock), so builds that end at once lose
// nothing. On a disk without locks (NFS) one of two that end at once may get lost. A damaged file, or one of
// another version, is begun again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// Of a cache that machines share.
struct RemoteCounts {
  uint64_t hits = 0, misses = 0;                // results that were asked for there
  uint64_t received_bytes = 0, sent_bytes = 0;  // of files, as they travel
  uint64_t requests = 0;                        // files that were asked for or sent
  uint64_t uploads = 0;                         // results
  uint64_t renewals = 0;                        // entries that were written again for their age
  uint64_t saved_milliseconds = 0;              // that tools took for results that came from there
  uint64_t lost = 0;                            // entries: files of theirs were gone
  uint64_t damaged = 0, untrusted = 0;          // refused entries: wrong bytes; no trusted signature
  uint64_t fallbacks = 0;                       // builds that went on without it
  bool operator==(const RemoteCounts&) const = default;
};

struct CacheCounts {
  uint64_t builds = 0, failed_builds = 0;  // that had something to do; of these, without a new bundle
  uint64_t build_milliseconds = 0;         // wall time
  uint64_t hits = 0, misses = 0;           // edges, in the cache on this machine
  uint64_t saved_milliseconds = 0;         // that tools took for results that were found
  uint64_t last_hits = 0, last_misses = 0, last_saved_milliseconds = 0;  // of the last build alone
  uint64_t last_build_milliseconds = 0, last_build_failed = 0;
  uint64_t last_build_at = 0;                       // seconds since the epoch; 0: there was none
  std::map<std::string, RemoteCounts> remote = {};  // by scope, at most k_most_scopes and k_other_scopes
  std::string last_fallback = {};                   // why the last of them went on without it; one line
  bool operator==(const CacheCounts&) const = default;
};

inline constexpr size_t k_most_scopes = 64;
inline constexpr const char* k_other_scopes = "(others)";
inline constexpr const char* k_counts_file = "counts";

// A number by its name in the file.
template <class Counts>
struct CountRow {
  const char* name;
  uint64_t Counts::* number;
};
const std::vector<CountRow<CacheCounts>>& cache_count_rows();
const std::vector<CountRow<RemoteCounts>>& remote_count_rows();

// Of all scopes together.
RemoteCounts sum_of(const std::map<std::string, RemoteCounts>& scopes);
// The counts of a scope, to be added to.
RemoteCounts& counts_of_scope(CacheCounts& counts, const std::string& scope);
void add(RemoteCounts& sum, const RemoteCounts& more);

// Pure. A text that is damaged gives empty counts.
std::string render_counts(const CacheCounts& counts);
CacheCounts parse_counts(std::string_view text);

// `folder`: of a cache (cache/local_cache.h). A folder that cannot be written counts nothing.
CacheCounts read_counts(const Path& folder, const FileReader& files);
void update_counts(const Path& folder, FileSystem& files, const std::function<void(CacheCounts&)>& change);

}  // namespace dsbuild
