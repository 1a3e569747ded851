// What bindings say of GPUs in a build for HIP; cuda_gpu.h has the same for CUDA.
#pragma once

#include <dlpack/dlpack.h>

#include <string>

#include "gpu_runtime.h"

namespace dsbuild::ops {

inline constexpr DLDeviceType k_gpu = kDLROCM;
inline constexpr const char* k_gpu_platform = "HIP";

inline std::string missing_gpu() {
  return missing_hip();
}

inline bool means_no_code(cudaError_t error) {
  return error == hipErrorNoBinaryForGpu || error == hipErrorInvalidDeviceFunction ||
         error == hipErrorInvalidKernelFile;
}

// A target ID without its last digit: gfx90 of gfx906 and gfx90a. The runtimes have the whole one in a struct
// alone that differs between their versions.
inline std::string target_prefix(int device) {
  int major = 0;
  int minor = 0;
  hipDeviceGetAttribute(&major, hipDeviceAttributeComputeCapabilityMajor, device);
  hipDeviceGetAttribute(&minor, hipDeviceAttributeComputeCapabilityMinor, device);
  return "gfx" + std::to_string(major) + std::to_string(minor);
}

inline std::string no_code_text(int device, cudaError_t error) {
  char name[256] = "";
  hipDeviceGetName(name, sizeof name, device);
  return ", " + std::string(name) + ", whose target ID begins with " + target_prefix(device) + " (" +
         hipGetErrorString(error) + "); build it with --arch and the whole ID, which rocminfo shows";
}

}  // namespace dsbuild::ops
