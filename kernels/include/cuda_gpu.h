// What bindings say of GPUs in a build for CUDA; hip_gpu.h has the same for HIP.
#pragma once

#include <dlpack/dlpack.h>

#include <string>

#include "gpu_runtime.h"

namespace dsbuild::ops {

inline constexpr DLDeviceType k_gpu = kDLCUDA;
inline constexpr const char* k_gpu_platform = "CUDA";

// Why no call can work here, where that is known before its error.
inline std::string missing_gpu() {
  return {};
}

// Does the error say that the library's code is for other GPUs?
inline bool means_no_code(cudaError_t error) {
  return error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion;
}

inline std::string compute_capability(int device) {
  int major = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return std::to_string(major) + "." + std::to_string(minor);
}

// What `error`, for which it is the reason, means for this GPU, and what to build instead.
inline std::string no_code_text(int device, cudaError_t error) {
  const std::string capability = compute_capability(device);
  return ", whose compute capability is " + capability + " (" + cudaGetErrorString(error) +
         "); build it with --arch " + capability;
}

}  // namespace dsbuild::ops
