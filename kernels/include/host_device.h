// DSBUILD_HOST_DEVICE before a function that host and device call; the host's compiler sees a plain function.
#pragma once

#ifdef __CUDACC__
#define DSBUILD_HOST_DEVICE __host__ __device__
#else
#define DSBUILD_HOST_DEVICE
#endif
