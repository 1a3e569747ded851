// Built with -mavx512f.
#include "adam_formula.h"
#include "cpu_adam.h"
#include "cpu_avx512.h"
#include "cpu_loop.h"

namespace dsbuild::ops {

void adam_step_avx512(const AdamCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_vectors_then<Avx512, AdamFormula>(adam_step_scalar, coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
