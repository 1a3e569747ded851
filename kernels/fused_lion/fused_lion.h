// The launch of the multi-tensor Lion kernel: between fused_lion.cu (no tvm-ffi) and its binding.
#pragma once

#include <vector>

#include "float_type.h"
#include "gpu_runtime.h"
#include "lion.h"
#include "step_arrays.h"

namespace dsbuild::ops {

// One launch per chunk of tensors on `stream` of the current device, of types that step_supports.
cudaError_t launch_fused_lion(const std::vector<LionArrays>& tensors, FloatType param, FloatType grad,
                              const LionOptions& options, cudaStream_t stream);

}  // namespace dsbuild::ops
