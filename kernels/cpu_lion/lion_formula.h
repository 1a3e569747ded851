// The step of lion.h, for the sources that are built with the flags of one instruction set (cpu_loop.h).
#pragma once

#include "cpu_lion.h"

namespace dsbuild::ops {
namespace {

template <class V>
struct LionFormula {
  using Reg = typename V::Reg;
  static constexpr int states = 1;

  explicit LionFormula(const LionCoefficients& c)
      : beta1(V::all(c.beta1)),
        one_minus_beta1(V::all(c.one_minus_beta1)),
        beta2(V::all(c.beta2)),
        one_minus_beta2(V::all(c.one_minus_beta2)),
        grad_scale(V::all(c.grad_scale)),
        decay(V::all(c.decay)),
        step_size(V::all(c.step_size)) {}

  Reg step(Reg p, Reg grad, Reg* moments) const {
    const Reg g = V::mul(grad, grad_scale);
    const Reg direction = V::fma(beta1, moments[0], V::mul(one_minus_beta1, g));
    moments[0] = V::fma(beta2, moments[0], V::mul(one_minus_beta2, g));
    return V::fused_mul_sub(p, decay, V::with_sign(step_size, direction));
  }

  Reg beta1, one_minus_beta1, beta2, one_minus_beta2, grad_scale, decay, step_size;
};

}  // namespace
}  // namespace dsbuild::ops
