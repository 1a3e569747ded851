// The GPUs that a build is for.
#pragma once

#include "gpu_runtime.h"

#ifdef DSBUILD_HIP
#include "hip_gpu.h"
#else
#include "cuda_gpu.h"
#endif
