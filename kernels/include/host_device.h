// DSBUILD_HOST_DEVICE before a function that host and device call; the host's compiler sees a plain function.
#pragma once

#ifdef __HIP__
#include <hip/hip_runtime.h>  // what the device has of memcpy and its like is there, and not in clang
#endif

#if defined(__CUDACC__) || defined(__HIP__)
#define DSBUILD_HOST_DEVICE __host__ __device__
#else
#define DSBUILD_HOST_DEVICE
#endif
