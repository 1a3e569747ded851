// Renders this machine's counts for dashboards, as text of OpenMetrics 1.0. Every metric is a counter or a
// gauge: the textfile collector of Prometheus' node_exporter reads the older format, and refuses other types.
#pragma once

#include <string>

#include "cache/counts.h"

namespace dsbuild {

// Names and labels: docs/guides/shared_cache.md. Pure.
std::string render_metrics(const CacheCounts& counts);

}  // namespace dsbuild
