// The launch of the multi-tensor Adam kernel in SYCL: between fused_adam.sycl.cpp (no tvm-ffi) and its
// binding (no SYCL).
#pragma once

#include <vector>

#include "adam.h"
#include "float_type.h"
#include "step_arrays.h"
#include "sycl_queue.h"

namespace dsbuild::ops {

// One launch per chunk of tensors, of types that step_supports. Throws std::runtime_error.
void launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                       const AdamOptions& options, const SyclPlace& place);

}  // namespace dsbuild::ops
