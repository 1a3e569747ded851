// The vector loop over a `Vector` (AVX2 or AVX-512). Included by the sources that are built with the flags of
// one instruction set: everything here has internal linkage and uses no other header's inline functions, else
// the linker might give code of a newer instruction set to the scalar path.
#pragma once

#include "cpu_adam.h"

namespace dsbuild::ops {
namespace {

template <class Vector, class Storage>
size_t step_vectors(const AdamCoefficients& c, const AdamRun& run,
                    typename Vector::Reg (*load_grad)(const Storage*)) {
  using Reg = typename Vector::Reg;
  const Reg beta1 = Vector::all(c.beta1), one_minus_beta1 = Vector::all(c.one_minus_beta1);
  const Reg beta2 = Vector::all(c.beta2), one_minus_beta2 = Vector::all(c.one_minus_beta2);
  const Reg grad_scale = Vector::all(c.grad_scale), l2 = Vector::all(c.l2), eps = Vector::all(c.eps);
  const Reg decay = Vector::all(c.decay), step_size = Vector::all(c.step_size);
  const Reg v_scale = Vector::all(c.v_scale);
  const auto* grad = static_cast<const Storage*>(run.grad);
  size_t i = 0;
  for (; i + Vector::width <= run.count; i += Vector::width) {
    const Reg p = Vector::load(run.param + i);
    const Reg g = Vector::fma(load_grad(grad + i), grad_scale, Vector::mul(l2, p));
    const Reg m = Vector::fma(beta1, Vector::load(run.exp_avg + i), Vector::mul(one_minus_beta1, g));
    const Reg v =
        Vector::fma(beta2, Vector::load(run.exp_avg_sq + i), Vector::mul(Vector::mul(one_minus_beta2, g), g));
    const Reg root = Vector::fma(Vector::sqrt(v), v_scale, eps);
    const Reg update = Vector::div(Vector::mul(step_size, m), root);
    Vector::store(run.param + i, Vector::fused_mul_sub(p, decay, update));
    Vector::store(run.exp_avg + i, m);
    Vector::store(run.exp_avg_sq + i, v);
  }
  return i;
}

// The elements from `done` on.
inline AdamRun rest_of(const AdamRun& run, size_t done, FloatType grad_type) {
  const size_t grad_bytes = grad_type == FloatType::float32 ? 4 : 2;
  return {run.param + done, static_cast<const char*>(run.grad) + done * grad_bytes, run.exp_avg + done,
          run.exp_avg_sq + done, run.count - done};
}

template <class Vector>
void step_vectors_then_scalar(const AdamCoefficients& c, const AdamRun& run, FloatType grad_type) {
  size_t done = 0;
  switch (grad_type) {
    case FloatType::float32:
      done = step_vectors<Vector, float>(c, run, Vector::load);
      break;
    case FloatType::float16:
      done = step_vectors<Vector, uint16_t>(c, run, Vector::load_float16);
      break;
    case FloatType::bfloat16:
      done = step_vectors<Vector, uint16_t>(c, run, Vector::load_bfloat16);
      break;
  }
  if (done < run.count) adam_step_scalar(c, rest_of(run, done, grad_type), grad_type);
}

}  // namespace
}  // namespace dsbuild::ops
