// The path of every CPU, and of what is left behind the last whole vector on the others.
#include "adagrad_formula.h"
#include "cpu_loop.h"
#include "cpu_scalar.h"

namespace dsbuild::ops {

void adagrad_step_scalar(const AdagradCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_whole_vectors<Scalar, AdagradFormula>(coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
