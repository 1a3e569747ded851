// Built with -mavx512f.
#include "adagrad_formula.h"
#include "cpu_avx512.h"
#include "cpu_loop.h"

namespace dsbuild::ops {

void adagrad_step_avx512(const AdagradCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_vectors_then<Avx512, AdagradFormula>(adagrad_step_scalar, coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
