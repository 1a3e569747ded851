// The counts of this machine for dashboards: text of OpenMetrics 1.0, of which every family is a counter or a
// gauge, for the textfile collector of Prometheus' node_exporter reads the older format and refuses others.
#pragma once

#include <string>

#include "cache/counts.h"

namespace dsbuild {

// Names and labels: docs/guides/shared_cache.md. Pure.
std::string render_metrics(const CacheCounts& counts);

}  // namespace dsbuild
