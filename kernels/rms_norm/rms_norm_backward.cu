#include "norm_backward.cuh"

namespace dsbuild::ops {

cudaError_t launch_norm_backward(const NormBackward& call, cudaStream_t stream) {
  return launch_backward<false>(call, stream);
}

int64_t norm_scratch_elements(const NormShape& shape) {
  return scratch_elements<false>(shape);
}

}  // namespace dsbuild::ops
