// Renders a build's timings as Chrome trace events, for Perfetto (ui.perfetto.dev) and chrome://tracing. The
// timings are those of --timings and the page.
#pragma once

#include <string>

#include "driver/timings.h"

namespace dsbuild {

// Each edge is a span. There are as many rows as edges ran at the same time, at most. A span contains the
// edge's waits for memory. Transfers of the shared cache have rows of their own. Times are microseconds since
// the build began.
std::string render_trace(const Timings& timings);

}  // namespace dsbuild
