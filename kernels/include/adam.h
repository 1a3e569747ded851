// One Adam or AdamW step, as plain numbers; shared by fused_adam and cpu_adam (docs/ops.md has the formulas).
#pragma once

#include <cmath>
#include <cstdint>

namespace dsbuild::ops {

struct AdamOptions {
  double lr, beta1, beta2, eps;
  int64_t step;  // 1 for the first
  bool adam_w_mode, bias_correction;
  double weight_decay;
  double grad_scale;  // gradients are multiplied by it: 1 / loss scale
};

// What a kernel needs, worked out in double once per call:
//   g = grad * grad_scale + l2 * p
//   m = beta1 * m + one_minus_beta1 * g
//   v = beta2 * v + one_minus_beta2 * g * g
//   p = p * decay - step_size * m / (sqrt(v) * v_scale + eps)
struct AdamCoefficients {
  float beta1, one_minus_beta1, beta2, one_minus_beta2, eps;
  float grad_scale, l2, decay, step_size, v_scale;
};

inline AdamCoefficients adam_coefficients(const AdamOptions& o) {
  const double steps = static_cast<double>(o.step);
  const double correction1 = o.bias_correction ? 1 - std::pow(o.beta1, steps) : 1;
  const double correction2 = o.bias_correction ? 1 - std::pow(o.beta2, steps) : 1;
  AdamCoefficients c{};
  c.beta1 = static_cast<float>(o.beta1);
  c.one_minus_beta1 = static_cast<float>(1 - o.beta1);
  c.beta2 = static_cast<float>(o.beta2);
  c.one_minus_beta2 = static_cast<float>(1 - o.beta2);
  c.eps = static_cast<float>(o.eps);
  c.grad_scale = static_cast<float>(o.grad_scale);
  c.l2 = static_cast<float>(o.adam_w_mode ? 0 : o.weight_decay);
  c.decay = static_cast<float>(o.adam_w_mode ? 1 - o.lr * o.weight_decay : 1);
  c.step_size = static_cast<float>(o.lr / correction1);
  c.v_scale = static_cast<float>(1 / std::sqrt(correction2));
  return c;
}

}  // namespace dsbuild::ops
