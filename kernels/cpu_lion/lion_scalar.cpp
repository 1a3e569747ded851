// The path of every CPU, and of what is left behind the last whole vector on the others.
#include "cpu_loop.h"
#include "cpu_scalar.h"
#include "lion_formula.h"

namespace dsbuild::ops {

void lion_step_scalar(const LionCoefficients& coefficients, const CpuRun& run, FloatType grad_type) {
  step_whole_vectors<Scalar, LionFormula>(coefficients, run, grad_type);
}

}  // namespace dsbuild::ops
