// What the binding of a CUDA op, or of one for HIP, needs around its launch: the tensor's device, the
// caller's stream, clear errors.
#pragma once

#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <string>

#include "gpu.h"
#include "tensor_checks.h"

namespace dsbuild::ops {

inline void check_cuda(const char* function, cudaError_t error, int device) {
  if (error == cudaSuccess) return;
  const std::string missing = missing_gpu();
  if (!missing.empty()) TVM_FFI_THROW(RuntimeError) << function << ": " << missing;
  const std::string gpu = device_name({k_gpu, device});
  if (means_no_code(error)) {
    TVM_FFI_THROW(RuntimeError) << function << ": this library has no code for the GPU " << gpu
                                << no_code_text(device, error);
  }
  TVM_FFI_THROW(RuntimeError) << function << ": " << k_gpu_platform << " error on " << gpu << ": "
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
  return static_cast<cudaStream_t>(TVMFFIEnvGetStream(k_gpu, device));
}

}  // namespace dsbuild::ops
