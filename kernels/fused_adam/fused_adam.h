// The launch of the multi-tensor Adam kernel: between fused_adam.cu (no tvm-ffi) and its binding.
#pragma once

#include <vector>

#include "adam.h"
#include "float_type.h"
#include "gpu_runtime.h"
#include "step_arrays.h"

namespace dsbuild::ops {

// One launch per chunk of tensors on `stream` of the current device, of types that step_supports.
cudaError_t launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                              const AdamOptions& options, cudaStream_t stream);

}  // namespace dsbuild::ops
