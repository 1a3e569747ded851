// Splits ops that are written for several vendors' GPUs into the ops of one build.
#pragma once

#include "registry/registry.h"

namespace dsbuild {

// If GPUs of one of an op's backends are requested, the op gets that backend. If those of several are, there
// is an op for each, with different names for plans, folders and libraries: "fused_adam.cuda",
// "fused_adam.hip". If none are, the op stays unchanged, and the plan reports that.
void split_by_backend(Registry& registry, SelectedOps& selected, const std::vector<const Vendor*>& asked);

}  // namespace dsbuild
