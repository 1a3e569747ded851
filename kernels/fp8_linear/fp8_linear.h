// The launches of fp8_linear's own kernels: between quantize.cu (no tvm-ffi) and the binding.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "float_type.h"
#include "fp8_format.h"

namespace dsbuild::ops {

constexpr int k_most_quantizers = 8;  // of a history: what an update takes as a kernel's argument
constexpr int k_longest_history = 1024;
constexpr int k_fp8_maxima = 1024;

struct Fp8Values {
  const void* values;
  FloatType type;
  int64_t rows, columns;  // row after row; where no transpose is asked for, any split of the elements
};

// A matrix's codes, with one scale: value = code * scale.
struct Fp8Codes {
  float* scale;   // given, or written where there is room for maxima
  float* maxima;  // room for k_fp8_maxima, of current scaling: the scale is the tensor's own; else null
  float* amax;    // raised to the largest finite magnitude of the values; may be null
  uint8_t* codes;
  uint8_t* transposed;  // [columns, rows]; may be null
};

struct Fp8History {
  float* amax;    // [length, quantizers]; row 0 is being gathered
  float* scales;  // [quantizers]
  int length, quantizers;
  float largest[k_most_quantizers];  // code of each quantizer's format
  float factor;                      // of the scales: 2^margin
};

// All on `stream` of the current device.
cudaError_t launch_fp8_quantize(const Fp8Values& from, const Fp8Codes& to, Fp8Format format,
                                cudaStream_t stream);
cudaError_t launch_fp8_scale_update(const Fp8History& history, cudaStream_t stream);
cudaError_t launch_fp8_transpose(const uint8_t* codes, uint8_t* transposed, int64_t rows, int64_t columns,
                                 cudaStream_t stream);

}  // namespace dsbuild::ops
