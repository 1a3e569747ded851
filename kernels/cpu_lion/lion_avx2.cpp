// Built with -mavx2 -mfma -mf16c.
#include "cpu_avx2.h"
#include "cpu_loop.h"
#include "lion_formula.h"

namespace dsbuild::ops {

void lion_step_avx2(const LionCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_vectors_then<Avx2, LionFormula>(lion_step_scalar, coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
