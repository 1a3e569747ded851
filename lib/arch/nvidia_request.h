// Expands the words of an arch list for NVIDIA. Private to lib/arch.
#pragma once

#include "arch/nvidia.h"

namespace dsbuild {

// nvcc's own expansion of -arch=all and -arch=all-major (its --dryrun shows it): without a and f; PTX of
// the highest X.0, even where X.1 is higher.
ArchSet all_nvidia_archs(const ArchSet& toolkit_targets, bool major_only);
// The default list for a CUDA version (major*100+minor).
ArchSet default_nvidia_archs(int cuda);
// Machine code for each GPU, and PTX for the highest.
ArchSet native_nvidia_archs(const std::vector<Target>& gpus);

}  // namespace dsbuild
