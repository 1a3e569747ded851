#include "norm_forward.cuh"

namespace dsbuild::ops {

cudaError_t launch_norm_forward(const NormForward& call, cudaStream_t stream) {
  return launch_forward<true>(call, stream);
}

}  // namespace dsbuild::ops
