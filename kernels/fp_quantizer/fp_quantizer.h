// The launches of the fp8 kernels: between fp_quantizer.cu (no tvm-ffi) and its binding.
#pragma once

#include <cuda_runtime_api.h>

#include "grouped_values.h"

namespace dsbuild::ops {

enum class Fp8Format { e4m3, e5m2 };

// On `stream` of the current device.
cudaError_t launch_fp_quantize(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream);
cudaError_t launch_fp_dequantize(const GroupedValues& arrays, Fp8Format format, cudaStream_t stream);

}  // namespace dsbuild::ops
