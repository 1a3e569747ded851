// One Adam or AdamW step, as plain numbers; shared by fused_adam and cpu_adam (docs/reference/ops.md has the
// formulas).
#pragma once

#include <cmath>
#include <cstdint>

#include "bias_correction.h"
#include "late_value.h"

namespace dsbuild::ops {

struct AdamOptions {
  LateNumber lr;
  double beta1, beta2, eps;
  LateInteger step;  // 1 for the first
  bool adam_w_mode, bias_correction;
  double weight_decay;
  double grad_scale;  // gradients are multiplied by it: 1 / loss scale

  bool late() const { return lr.late() || step.late(); }
};

// What a kernel needs, worked out in double once per call (by each block, where lr or step are late):
//   g = grad * grad_scale + l2 * p
//   m = beta1 * m + one_minus_beta1 * g
//   v = beta2 * v + one_minus_beta2 * g * g
//   p = p * decay - step_size * m / (sqrt(v) * v_scale + eps)
struct AdamCoefficients {
  float beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
  float grad_scale, l2, decay, step_size, v_scale;
};

// Host and device give the same bits: division, root and fma round correctly on both, and nothing here is
// left for a compiler to fuse.
DSBUILD_HOST_DEVICE inline AdamCoefficients coefficients(const AdamOptions& o) {
  const double lr = o.lr.value();
  const int64_t step = o.step.value();
  const double correction1 = o.bias_correction ? bias_correction(o.beta1, step) : 1;
  const double correction2 = o.bias_correction ? bias_correction(o.beta2, step) : 1;
  AdamCoefficients c{};
  c.beta1 = static_cast<float>(o.beta1);
  c.one_minus_beta1 = static_cast<float>(1 - o.beta1);
  c.beta2 = static_cast<float>(o.beta2);
  c.one_minus_beta2 = static_cast<float>(1 - o.beta2);
  c.eps = static_cast<float>(o.eps);
  c.grad_scale = static_cast<float>(o.grad_scale);
  c.l2 = static_cast<float>(o.adam_w_mode ? 0 : o.weight_decay);
  c.decay = static_cast<float>(o.adam_w_mode ? fma(-lr, o.weight_decay, 1.0) : 1);
  c.step_size = static_cast<float>(lr / correction1);
  c.v_scale = static_cast<float>(1 / sqrt(correction2));
  return c;
}

}  // namespace dsbuild::ops
