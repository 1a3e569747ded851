// Compares the objects made from slices with those that nvcc makes of the same files. This graph runs after
// the build's, in the same folder.
#pragma once

#include "plan/slice_edges.h"

namespace dsbuild {

// For each command one edge that runs it whole, and one that compares its object with those of the parts
// (lib/nvcc/nvcc_comparison.h). `build`: the plan that the parts are in.
BuildPlan plan_nvcc_comparison(const BuildPlan& build, const std::vector<SlicedCommand>& commands);

}  // namespace dsbuild
