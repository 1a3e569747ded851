// Ops share sources (DeepSpeed's async_io and gds, transformer and stochastic_transformer): the same file
// under the same flags but for macros and include folders, which often make no difference.
#pragma once

#include "plan/build_plan.h"

namespace dsbuild {

// Whether a compile's flags ask for some: those of its spec, or --debug's.
bool has_debug_info(const Edge& edge);

// Marks the compiles of a source that several ops have and compile alike but for macros and include folders:
// each is known in the cache by its preprocessed text too, and stands behind the first one, which thus is
// made once where that text is the same. Which ops are built together changes no byte. Not where debug
// information names the folders (-g).
void mark_shared_sources(BuildPlan& plan);

}  // namespace dsbuild
