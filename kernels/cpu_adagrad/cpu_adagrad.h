// One Adagrad step on the CPU, as plain numbers (docs/reference/ops.md has the formulas), and its paths.
#pragma once

#include "cpu_run.h"

namespace dsbuild::ops {

//   g = grad * grad_scale + l2 * p
//   v = v + g * g
//   p = p - step_size * g / (sqrt(v) + eps)
struct AdagradCoefficients {
  float grad_scale, l2, step_size, eps;
};

CpuStep<AdagradCoefficients> adagrad_step_scalar, adagrad_step_avx2, adagrad_step_avx512;

}  // namespace dsbuild::ops
