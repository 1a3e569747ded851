// One Lion step, as plain numbers; shared by fused_lion and cpu_lion (docs/reference/ops.md has the
// formulas).
#pragma once

#include <cmath>

#include "late_value.h"

namespace dsbuild::ops {

struct LionOptions {
  LateNumber lr;
  double beta1, beta2, weight_decay;
  double grad_scale;  // gradients are multiplied by it: 1 / loss scale

  bool late() const { return lr.late(); }
};

// What a kernel needs, worked out in double:
//   g = grad * grad_scale
//   c = beta1 * m + one_minus_beta1 * g
//   m = beta2 * m + one_minus_beta2 * g
//   p = p * decay - step_size * sign(c)
struct LionCoefficients {
  float beta1, one_minus_beta1, beta2, one_minus_beta2;
  float grad_scale, decay, step_size;
};

DSBUILD_HOST_DEVICE inline LionCoefficients coefficients(const LionOptions& o) {
  const double lr = o.lr.value();
  LionCoefficients c{};
  c.beta1 = static_cast<float>(o.beta1);
  c.one_minus_beta1 = static_cast<float>(1 - o.beta1);
  c.beta2 = static_cast<float>(o.beta2);
  c.one_minus_beta2 = static_cast<float>(1 - o.beta2);
  c.grad_scale = static_cast<float>(o.grad_scale);
  c.decay = static_cast<float>(fma(-lr, o.weight_decay, 1.0));
  c.step_size = static_cast<float>(lr);
  return c;
}

}  // namespace dsbuild::ops
