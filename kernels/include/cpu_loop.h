// The loop of an optimiser's step over a `Vector` (scalar, AVX2 or AVX-512) and a `Formula` of it:
//   static constexpr int states;                    moments of one parameter
//   explicit Formula(const Coefficients&);
//   Reg step(Reg param, Reg grad, Reg* states);     changes the states, returns the new parameter
// Included by the sources that are built with the flags of one instruction set: everything here has internal
// linkage and uses no other header's inline functions, else the linker might give code of a newer instruction
// set to the scalar path.
#pragma once

#include <cstdint>

#include "cpu_run.h"

namespace dsbuild::ops {
namespace {

template <class Vector, class Formula, class Storage>
size_t step_vectors(const Formula& formula, const CpuRun& run,
                    typename Vector::Reg (*load_grad)(const Storage*)) {
  using Reg = typename Vector::Reg;
  const auto* grad = static_cast<const Storage*>(run.grad);
  size_t i = 0;
  for (; i + Vector::width <= run.count; i += Vector::width) {
    Reg states[Formula::states];
    for (int s = 0; s < Formula::states; ++s)
      states[s] = Vector::load(run.states[s] + i);
    Vector::store(run.param + i, formula.step(Vector::load(run.param + i), load_grad(grad + i), states));
    for (int s = 0; s < Formula::states; ++s)
      Vector::store(run.states[s] + i, states[s]);
  }
  return i;
}

// All whole vectors; returns how many elements that are.
template <class Vector, template <class> class Formula, class Coefficients>
size_t step_whole_vectors(const Coefficients& c, const CpuRun& run, FloatType grad_type) {
  const Formula<Vector> formula(c);
  // Three calls, so that each loop has its own load in it.
  switch (grad_type) {
    case FloatType::float32:
      return step_vectors<Vector, Formula<Vector>, float>(formula, run, Vector::load);
    case FloatType::float16:
      return step_vectors<Vector, Formula<Vector>, uint16_t>(formula, run, Vector::load_float16);
    case FloatType::bfloat16:
      break;
  }
  return step_vectors<Vector, Formula<Vector>, uint16_t>(formula, run, Vector::load_bfloat16);
}

// What is left behind the last whole vector is the scalar path's, of another source.
template <class Vector, template <class> class Formula, class Coefficients>
void step_vectors_then(CpuStep<Coefficients>* scalar, const Coefficients& c, const CpuRun& run,
                       FloatType grad_type) {
  const size_t done = step_whole_vectors<Vector, Formula>(c, run, grad_type);
  if (done == run.count) return;
  CpuRun rest{run.param + done,
              static_cast<const char*>(run.grad) + done * grad_bytes(grad_type),
              {},
              run.count - done};
  for (int s = 0; s < Formula<Vector>::states; ++s)
    rest.states[s] = run.states[s] + done;
  scalar(c, rest, grad_type);
}

}  // namespace
}  // namespace dsbuild::ops
