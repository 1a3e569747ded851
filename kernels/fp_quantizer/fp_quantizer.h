// The launches of the fp8 kernels: between fp_quantizer.cu (no tvm-ffi) and its binding.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "float_type.h"

namespace dsbuild::ops {

enum class Fp8Format { e4m3, e5m2 };

constexpr int64_t k_group_step = 8;  // group sizes are multiples of it
constexpr int64_t k_max_group_size = 8192;

struct Fp8Values {
  void* values;  // float32, float16 or bfloat16
  FloatType type;
  uint8_t* codes;
  float* scales;  // one per group
  int64_t count;  // the last group may be shorter than the others
  int group_size;
};

// On `stream` of the current device.
cudaError_t launch_fp_quantize(const Fp8Values& arrays, Fp8Format format, cudaStream_t stream);
cudaError_t launch_fp_dequantize(const Fp8Values& arrays, Fp8Format format, cudaStream_t stream);

}  // namespace dsbuild::ops
