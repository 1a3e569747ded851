// What a CUDA op's binding needs around its launch: the tensor's device, the caller's stream, clear errors.
#pragma once

#include <cuda_runtime_api.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <string>

namespace dsbuild::ops {

inline std::string compute_capability(int device) {
  int major = 0;
  int minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return std::to_string(major) + "." + std::to_string(minor);
}

inline void check_cuda(const char* function, cudaError_t error, int device) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion) {
    const std::string capability = compute_capability(device);
    TVM_FFI_THROW(RuntimeError) << function << ": this library has no code for the GPU cuda:" << device
                                << ", whose compute capability is " << capability << " ("
                                << cudaGetErrorString(error) << "); build it with --arch " << capability;
  }
  TVM_FFI_THROW(RuntimeError) << function << ": CUDA error on cuda:" << device << ": "
                              << cudaGetErrorString(error) << " (" << cudaGetErrorName(error) << ")";
}

// Makes the device current for the scope's lifetime.
class DeviceScope {
 public:
  DeviceScope(const char* function, int device) {
    check_cuda(function, cudaGetDevice(&previous_), device);
    changed_ = previous_ != device;
    if (changed_) check_cuda(function, cudaSetDevice(device), device);
  }
  ~DeviceScope() {
    if (changed_) cudaSetDevice(previous_);
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

inline cudaStream_t current_stream(int device) {
  return static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, device));
}

}  // namespace dsbuild::ops
