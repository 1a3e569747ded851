#include "driver/build_counts.h"

#include <cmath>

#include "sys/clock.h"

namespace dsbuild {
void count_build(const EndedBuild& build, const Settings& settings, Session& session) {
  if (settings.local_cache_size.value == 0) return;
  const auto milliseconds = static_cast<uint64_t>(std::llround(build.seconds * 1000));
  TieredCache(session.system.files, settings.local_cache.value).count([&](CacheCounts& counts) {
    ++counts.builds;
    counts.failed_builds += build.has_failed ? 1 : 0;
    counts.build_milliseconds += milliseconds;
    counts.last_build_milliseconds = milliseconds;
    counts.last_build_failed = build.has_failed ? 1 : 0;
    counts.last_build_at = static_cast<uint64_t>(unix_seconds());
    if (!session.remote) return;
    const MirrorUses uses = session.remote->uses();
    add(counts_of_scope(counts, settings.remote_scope.value), uses.counts);
    if (!uses.off.empty()) counts.last_fallback = uses.off;
  });
}

}  // namespace dsbuild
