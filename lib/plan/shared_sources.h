// Finds sources that several ops compile with equal flags except for macros and include folders. These often
// make no difference, as in DeepSpeed's async_io and gds, or transformer and stochastic_transformer.
#pragma once

#include "plan/build_plan.h"

namespace dsbuild {

// Whether a compile's flags ask for debug information, by its spec or by --debug.
bool has_debug_info(const Edge& edge);

// Marks the compiles of such sources. The cache has their results also under the preprocessed text, and each
// runs after the first one. So equal texts are compiled once. No byte depends on which ops are built
// together. Does not mark compiles with -g, because their debug information names the folders.
void mark_shared_sources(BuildPlan& plan);

}  // namespace dsbuild
