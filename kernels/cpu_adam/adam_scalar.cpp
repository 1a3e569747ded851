// The path of every CPU, and of what is left behind the last whole vector on the others.
#include "adam_formula.h"
#include "cpu_adam.h"
#include "cpu_loop.h"
#include "cpu_scalar.h"

namespace dsbuild::ops {

void adam_step_scalar(const AdamCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_whole_vectors<Scalar, AdamFormula>(coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
