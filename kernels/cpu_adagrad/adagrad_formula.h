// The step of cpu_adagrad.h, for the sources that are built with the flags of one instruction set
// (cpu_loop.h).
#pragma once

#include "cpu_adagrad.h"

namespace dsbuild::ops {
namespace {

template <class V>
struct AdagradFormula {
  using Reg = typename V::Reg;
  static constexpr int states = 1;

  explicit AdagradFormula(const AdagradCoefficients& c)
      : grad_scale(V::all(c.grad_scale)),
        l2(V::all(c.l2)),
        step_size(V::all(c.step_size)),
        eps(V::all(c.eps)) {}

  Reg step(Reg p, Reg grad, Reg* sums) const {
    const Reg g = V::fma(grad, grad_scale, V::mul(l2, p));
    sums[0] = V::fma(g, g, sums[0]);
    const Reg root = V::add(V::sqrt(sums[0]), eps);
    return V::sub(p, V::div(V::mul(step_size, g), root));
  }

  Reg grad_scale, l2, step_size, eps;
};

}  // namespace
}  // namespace dsbuild::ops
