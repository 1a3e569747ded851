// Splits HIP compiles into clang's own steps: a slice for each target, the host code, and an object with the
// images, to which the host code refers. One more target is one more slice.
#pragma once

#include "plan/slice_edges.h"

namespace dsbuild {

struct HipSliceInput {
  int clang = 0;     // its major version: names in bundles differ
  std::string host;  // in bundles: "host-x86_64-unknown-linux-gnu"
};

// Replaces the HIP compiles. The caller puts the edges in order afterwards (edge_order.h).
std::vector<SlicedCommand> slice_hip_edges(BuildPlan& plan, const HipSliceInput& input);

}  // namespace dsbuild
