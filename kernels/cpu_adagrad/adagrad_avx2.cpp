// Built with -mavx2 -mfma -mf16c.
#include "adagrad_formula.h"
#include "cpu_avx2.h"
#include "cpu_loop.h"

namespace dsbuild::ops {

void adagrad_step_avx2(const AdagradCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_vectors_then<Avx2, AdagradFormula>(adagrad_step_scalar, coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
