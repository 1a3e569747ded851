// The launches of the multi-tensor LAMB kernels: between fused_lamb.cu (no tvm-ffi) and its binding.
#pragma once

#include <cstdint>
#include <vector>

#include "float_type.h"
#include "gpu_runtime.h"
#include "late_value.h"
#include "step_arrays.h"

namespace dsbuild::ops {

struct LambOptions {
  LateNumber lr;
  double beta1, beta2, eps;
  LateInteger step;  // 1 for the first
  bool eps_inside_sqrt, bias_correction;
  double weight_decay;
  double min_coeff, max_coeff;  // of the trust ratio
  double grad_scale;            // gradients are multiplied by it: 1 / loss scale
};

// How many float32 elements of scratch memory a step over tensors of these sizes takes.
int64_t lamb_scratch_elements(const std::vector<int64_t>& counts);

// On `stream` of the current device, of types that step_supports.
cudaError_t launch_fused_lamb(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                              float* scratch, const LambOptions& options, cudaStream_t stream);

}  // namespace dsbuild::ops
