// The launch of the kernel: between my_op.cu (no tvm-ffi, so nvcc is quick) and its binding.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// y[i] = alpha * x[i] for `count` elements, on `stream` of the current device.
cudaError_t launch_my_op(const float* x, float* y, int64_t count, float alpha, cudaStream_t stream);
