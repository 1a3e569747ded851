// Ops share sources (DeepSpeed's async_io and gds, transformer and stochastic_transformer): the same file
// under the same flags but for macros and include folders, which often make no difference.
#pragma once

#include "plan/build_plan.h"

namespace dsbuild {

// Gives each compile edge that differs from an earlier one in its op, its macros and its include folders
// alone that one as its twin: built after it, by `dsbuild step twin`, which takes its object where every
// preprocessed text is the same, and compiles otherwise. Which ops are built together thus changes no byte.
// Not where debug info names the folders (-g).
void find_twins(BuildPlan& plan);

}  // namespace dsbuild
