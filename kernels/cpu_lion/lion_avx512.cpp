// Built with -mavx512f.
#include "cpu_avx512.h"
#include "cpu_loop.h"
#include "lion_formula.h"

namespace dsbuild::ops {

void lion_step_avx512(const LionCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_vectors_then<Avx512, LionFormula>(lion_step_scalar, coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
