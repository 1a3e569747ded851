// The launches of the integer kernels: between quantize.cu and dequantize.cu (no tvm-ffi) and their binding.
#pragma once

#include "gpu_runtime.h"
#include "grouped_values.h"

namespace dsbuild::ops {

// 8 or 4 bits; symmetric where `offsets` is null. On `stream` of the current device.
cudaError_t launch_quantize(const GroupedValues& arrays, int bits, cudaStream_t stream);
cudaError_t launch_dequantize(const GroupedValues& arrays, int bits, cudaStream_t stream);

}  // namespace dsbuild::ops
