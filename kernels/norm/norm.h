// The normalisation of rows, by their root mean square (rms_norm) or by mean and variance (layer_norm):
// between kernels (no tvm-ffi) and bindings. Either op defines these functions for itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "float_type.h"

namespace dsbuild::ops {

constexpr int64_t k_max_hidden = int64_t{1} << 30;  // columns are ints, also those of the last thread

struct NormShape {
  int64_t rows;
  int hidden;      // elements of a row
  FloatType type;  // of the input and of what has its shape
};

// One element for each column: weight, bias or the gradient of one.
struct NormParameter {
  void* data;    // null: there is none
  bool float32;  // else of the input's type
};

// What layer_norm alone has is null for rms_norm.
struct NormForward {
  NormShape shape;
  const void* input;
  NormParameter weight, bias;
  void* out;
  float* mean;
  float* rstd;
  float eps;
};

struct NormBackward {
  NormShape shape;
  const void* grad_out;
  const void* input;
  NormParameter weight;
  const float* mean;
  const float* rstd;
  void* grad_input;
  NormParameter grad_weight, grad_bias;
  float* scratch;  // null where neither gradient is wanted
};

// On `stream` of the current device.
cudaError_t launch_norm_forward(const NormForward& call, cudaStream_t stream);
cudaError_t launch_norm_backward(const NormBackward& call, cudaStream_t stream);

// How many float32 elements the backward pass needs on the current device.
int64_t norm_scratch_elements(const NormShape& shape);

}  // namespace dsbuild::ops
