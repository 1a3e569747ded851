// Adds a build to this machine's counts (cache/counts.h), which `dsbuild cache stats` and dashboards show.
#pragma once

#include "driver/session.h"

namespace dsbuild {

struct EndedBuild {
  double seconds = 0;
  bool has_failed = false;
};

// Call it after the last upload, for a build that had something to do. It does not count the cache hits of
// edges: TieredCache::end_build does so at the end of each graph.
void count_build(const EndedBuild& build, const Settings& settings, Session& session);

}  // namespace dsbuild
