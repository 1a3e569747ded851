// Tensors that are quantised in groups of neighbouring elements: between kernels (no tvm-ffi) and bindings.
#pragma once

#include <cstdint>

#include "float_type.h"

namespace dsbuild::ops {

constexpr int64_t k_group_step = 8;  // group sizes are multiples of it
constexpr int64_t k_max_group_size = 8192;

struct GroupedValues {
  void* values;  // float32, float16 or bfloat16
  FloatType type;
  uint8_t* codes;
  float* scales;   // one per group
  float* offsets;  // the same, or null for a codec without
  int64_t count;   // the last group may be shorter than the others
  int group_size;
};

}  // namespace dsbuild::ops
