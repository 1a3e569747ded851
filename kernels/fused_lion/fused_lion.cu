// Lion over many tensors at once.
#include "fused_lion.h"
#include "multi_tensor.cuh"

namespace dsbuild::ops {
namespace {

template <class Param, class Grad>
class LionWork {
 public:
  __device__ LionWork(const LionCoefficients& coefficients, const LionArrays& arrays, int64_t begin)
      : c_(coefficients),
        param_(static_cast<Param*>(arrays.param) + begin),
        grad_(static_cast<const Grad*>(arrays.grad) + begin),
        exp_avg_(arrays.exp_avg + begin) {}

  __device__ bool aligned() const { return packs_aligned(param_, grad_, exp_avg_); }

  template <int width>
  __device__ void at(int64_t i) const {
    auto p = load_pack<width>(param_ + i);
    const auto g = load_pack<width>(grad_ + i);
    auto m = load_pack<width>(exp_avg_ + i);
#pragma unroll
    for (int k = 0; k < width; ++k)
      p.item[k] = stepped(p.item[k], g.item[k], m.item[k]);
    store_pack(param_ + i, p);
    store_pack(exp_avg_ + i, m);
  }

 private:
  // Each fusion is written out, so that the kernels for numbers and for tensors give the same bits.
  __device__ Param stepped(Param param, Grad grad, float& m) const {
    const float g = to_float(grad) * c_.grad_scale;
    const float direction = fmaf(c_.beta1, m, c_.one_minus_beta1 * g);
    m = fmaf(c_.beta2, m, c_.one_minus_beta2 * g);
    return from_float<Param>(fmaf(to_float(param), c_.decay, -signed_step(direction)));
  }

  // step_size * sign(direction); what has no sign, zeros and NaN, stays itself.
  __device__ float signed_step(float direction) const {
    if (direction > 0) return c_.step_size;
    return direction < 0 ? -c_.step_size : direction;
  }

  const LionCoefficients& c_;
  Param* __restrict__ param_;
  const Grad* __restrict__ grad_;
  float* __restrict__ exp_avg_;
};

}  // namespace

cudaError_t launch_fused_lion(const std::vector<LionArrays>& tensors, FloatType param, FloatType grad,
                              const LionOptions& options, cudaStream_t stream) {
  return launch_step<LionWork>(tensors, param, grad, options, stream);
}

}  // namespace dsbuild::ops
