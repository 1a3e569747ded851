// The launches of the fp8 kernels: between fp_quantizer.cu (no tvm-ffi) and its binding.
#pragma once

#include "fp8_format.h"
#include "gpu_runtime.h"
#include "grouped_values.h"

namespace dsbuild::ops {

// On `stream` of the current device.
cudaError_t launch_fp_quantize(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream);
cudaError_t launch_fp_dequantize(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream);

}  // namespace dsbuild::ops
