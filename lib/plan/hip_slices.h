// Clang's own steps for HIP: each whole compile becomes a slice for each target, the host's code, and the
// object of the images that the host's refers to. One target more is one slice more.
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
