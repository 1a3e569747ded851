// The step of adam.h over a `Vector` of numbers: one of cpu_loop.h, in sources that are built with the flags
// of one instruction set (so all has internal linkage), or SyclFloat.
#pragma once

#include "adam.h"

namespace dsbuild::ops {
namespace {

template <class V>
struct AdamFormula {
  using Reg = typename V::Reg;
  static constexpr int states = 2;

  explicit AdamFormula(const AdamCoefficients& c)
      : beta1(V::all(c.beta1)),
        one_minus_beta1(V::all(c.one_minus_beta1)),
        beta2(V::all(c.beta2)),
        one_minus_beta2(V::all(c.one_minus_beta2)),
        eps(V::all(c.eps)),
        grad_scale(V::all(c.grad_scale)),
        l2(V::all(c.l2)),
        decay(V::all(c.decay)),
        step_size(V::all(c.step_size)),
        v_scale(V::all(c.v_scale)) {}

  Reg step(Reg p, Reg grad, Reg* moments) const {
    const Reg g = V::fma(grad, grad_scale, V::mul(l2, p));
    const Reg m = V::fma(beta1, moments[0], V::mul(one_minus_beta1, g));
    const Reg v = V::fma(beta2, moments[1], V::mul(V::mul(one_minus_beta2, g), g));
    moments[0] = m;
    moments[1] = v;
    const Reg root = V::fma(V::sqrt(v), v_scale, eps);
    return V::fused_mul_sub(p, decay, V::div(V::mul(step_size, m), root));
  }

  Reg beta1, one_minus_beta1, beta2, one_minus_beta2, eps, grad_scale, l2, decay, step_size, v_scale;
};

}  // namespace
}  // namespace dsbuild::ops
