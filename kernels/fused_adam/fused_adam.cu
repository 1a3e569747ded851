// Adam over many tensors at once.
#include "fused_adam.h"
#include "multi_tensor.cuh"

namespace dsbuild::ops {
namespace {

template <class Param, class Grad>
class AdamWork {
 public:
  __device__ AdamWork(const AdamCoefficients& coefficients, const AdamArrays& arrays, int64_t begin)
      : c_(coefficients),
        param_(static_cast<Param*>(arrays.param) + begin),
        grad_(static_cast<const Grad*>(arrays.grad) + begin),
        exp_avg_(arrays.exp_avg + begin),
        exp_avg_sq_(arrays.exp_avg_sq + begin) {}

  __device__ bool aligned() const { return packs_aligned(param_, grad_, exp_avg_, exp_avg_sq_); }

  template <int width>
  __device__ void at(int64_t i) const {
    auto p = load_pack<width>(param_ + i);
    const auto g = load_pack<width>(grad_ + i);
    auto m = load_pack<width>(exp_avg_ + i);
    auto v = load_pack<width>(exp_avg_sq_ + i);
#pragma unroll
    for (int k = 0; k < width; ++k)
      p.item[k] = stepped(p.item[k], g.item[k], m.item[k], v.item[k]);
    store_pack(param_ + i, p);
    store_pack(exp_avg_ + i, m);
    store_pack(exp_avg_sq_ + i, v);
  }

 private:
  // sqrt and division round correctly, and each fusion is written out: the kernels for numbers and for
  // tensors give the same bits, which a compiler that fuses as it likes would not, and agree with the CPU
  // op's to the last ones.
  __device__ Param stepped(Param param, Grad grad, float& m, float& v) const {
    const float p = to_float(param);
    const float g = fmaf(to_float(grad), c_.grad_scale, c_.l2 * p);
    m = fmaf(c_.beta1, m, c_.one_minus_beta1 * g);
    v = fmaf(c_.beta2, v, c_.one_minus_beta2 * g * g);
    const float root = fmaf(sqrtf(v), c_.v_scale, c_.eps);
    return from_float<Param>(fmaf(p, c_.decay, -(c_.step_size * m / root)));
  }

  const AdamCoefficients& c_;
  Param* __restrict__ param_;
  const Grad* __restrict__ grad_;
  float* __restrict__ exp_avg_;
  float* __restrict__ exp_avg_sq_;
};

}  // namespace

cudaError_t launch_fused_adam(const std::vector<AdamArrays>& tensors, FloatType param, FloatType grad,
                              const AdamOptions& options, cudaStream_t stream) {
  return launch_step<AdamWork>(tensors, param, grad, options, stream);
}

}  // namespace dsbuild::ops
