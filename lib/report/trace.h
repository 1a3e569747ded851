// What a build did, as Chrome's trace events: for Perfetto (ui.perfetto.dev), chrome://tracing and whatever
// reads that format. Made of the same timings as --timings and the page.
#pragma once

#include <string>

#include "driver/timings.h"

namespace dsbuild {

// Each edge is a span of a slot: as few rows as ran at once. Within it stand its waits for memory. Transfers
// of the shared cache have rows of their own. Times are microseconds since the build began.
std::string render_trace(const Timings& timings);

}  // namespace dsbuild
