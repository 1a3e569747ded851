// The kernel. Put your own in its place.
#include "my_op.h"

namespace {

constexpr int k_threads = 256;

__global__ void my_op_kernel(const float* x, float* y, int64_t count, float alpha) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) y[i] = alpha * x[i];
}

}  // namespace

cudaError_t launch_my_op(const float* x, float* y, int64_t count, float alpha, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const int64_t blocks = (count + k_threads - 1) / k_threads;
  my_op_kernel<<<static_cast<unsigned>(blocks), k_threads, 0, stream>>>(x, y, count, alpha);
  return cudaGetLastError();
}
