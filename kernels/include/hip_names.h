// What the ops use of the CUDA runtime, over HIP.
#pragma once

#ifdef __HIP__  // clang compiles a kernel's file: launches and device code are the vendor's headers'
#include <hip/hip_runtime.h>
#else
#include "hip_host.h"
#endif

using cudaError_t = hipError_t;
using cudaStream_t = hipStream_t;

constexpr cudaError_t cudaSuccess = hipSuccess;
constexpr cudaError_t cudaErrorInvalidValue = hipErrorInvalidValue;
constexpr cudaError_t cudaErrorInvalidConfiguration = hipErrorInvalidConfiguration;

inline cudaError_t cudaGetLastError() {
  return hipGetLastError();
}
inline cudaError_t cudaGetDevice(int* device) {
  return hipGetDevice(device);
}
inline cudaError_t cudaSetDevice(int device) {
  return hipSetDevice(device);
}
inline const char* cudaGetErrorString(cudaError_t error) {
  return hipGetErrorString(error);
}
inline const char* cudaGetErrorName(cudaError_t error) {
  return hipGetErrorName(error);
}
