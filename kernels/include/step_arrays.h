// One tensor of an optimiser's step on the GPU: between kernels (no tvm-ffi) and bindings.
#pragma once

#include <cstdint>

#include "float_type.h"

namespace dsbuild::ops {

// Four arrays of `count` elements.
struct AdamArrays {
  void* param;
  const void* grad;
  float* exp_avg;
  float* exp_avg_sq;
  int64_t count;
};

struct LionArrays {
  void* param;
  const void* grad;
  float* exp_avg;
  int64_t count;
};

// Are there kernels for these? The same type twice, or float32 parameters with any gradients.
constexpr bool step_supports(FloatType param, FloatType grad) {
  return param == grad || param == FloatType::float32;
}

}  // namespace dsbuild::ops
