// Ops share sources (DeepSpeed's async_io and gds, transformer and stochastic_transformer): the same file
// under the same flags but for macros and include folders, which often make no difference.
#pragma once

#include "plan/build_plan.h"

namespace dsbuild {

// Whether a compile's flags ask for some: those of its spec, or --debug's.
bool has_debug_info(const Edge& edge);

// Marks the compiles of a source that several ops have and compile alike but for macros and include folders.
// The cache knows each of them by its preprocessed text too, and each runs after the first one. So a text
// that is the same is compiled once. No byte depends on which ops are built together. Compiles with -g are
// not marked: their debug information names the folders.
void mark_shared_sources(BuildPlan& plan);

}  // namespace dsbuild
