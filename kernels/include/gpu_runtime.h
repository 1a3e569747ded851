// The GPU's runtime in a build for CUDA or HIP. HIP's has the names of CUDA's here, and DSBUILD_HIP is
// defined.
#pragma once

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
#define DSBUILD_HIP
#include "hip_names.h"
#else
#include <cuda_runtime_api.h>
#endif
