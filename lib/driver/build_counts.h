// What a build adds to the counts of this machine (cache/counts.h), for `dsbuild cache stats` and dashboards.
#pragma once

#include "driver/session.h"

namespace dsbuild {

struct EndedBuild {
  double seconds = 0;
  bool has_failed = false;
};

// After the last upload. Of a build that had something to do; what its edges found is counted as each graph
// ends (TieredCache::end_build).
void count_build(const EndedBuild& build, const Settings& settings, Session& session);

}  // namespace dsbuild
