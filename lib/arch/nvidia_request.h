// What the words of a list stand for at NVIDIA. Private to lib/arch.
#pragma once

#include "arch/nvidia.h"

namespace dsbuild {

// nvcc's own expansion of -arch=all and -arch=all-major (its --dryrun shows it): without a and f; PTX of
// the highest X.0, even where X.1 is higher.
ArchSet all_nvidia_archs(const ArchSet& toolkit_targets, bool major_only);
// The committed default list for a CUDA version (major*100+minor).
ArchSet default_nvidia_archs(int cuda);
// Of each GPU its machine code, and PTX of the highest.
ArchSet native_nvidia_archs(const std::vector<Target>& gpus);

}  // namespace dsbuild
