// The launch of the multi-tensor Adam kernel: between fused_adam.cu (no tvm-ffi) and its binding.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "adam.h"
#include "float_type.h"

namespace dsbuild::ops {

// One tensor's four arrays of `count` elements.
struct AdamArrays {
  void* param;
  const void* grad;
  float* exp_avg;
  float* exp_avg_sq;
  int64_t count;
};

// Is there a kernel for these? The same type twice, or float32 parameters with any gradients.
constexpr bool adam_supports(FloatType param, FloatType grad) {
  return param == grad || param == FloatType::float32;
}

// One launch per chunk of tensors on `stream` of the current device.
cudaError_t launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                              const AdamCoefficients& coefficients, cudaStream_t stream);

}  // namespace dsbuild::ops
