// Ops that are written for several vendors' GPUs, as those ops that one build is of.
#pragma once

#include "registry/registry.h"

namespace dsbuild {

// Each op with several backends becomes one for each of those whose GPUs are asked for: of one, the op itself
// with that backend; of more, an op for each, called "fused_adam.cuda" and "fused_adam.hip", so that plans,
// folders and libraries tell them apart. One for none of them stays what it is, and its plan says so.
void split_by_backend(Registry& registry, SelectedOps& selected, const std::vector<const Vendor*>& asked);

}  // namespace dsbuild
