// What Python calls: ops/native/cpu_lion/functions.yaml; the formulas: docs/reference/ops.md.
#include "cpu_lion.h"

#include "cpu_paths.h"
#include "cpu_step.h"
#include "lion_arguments.h"

namespace dsbuild::ops {
namespace {

CpuPaths<LionCoefficients>& paths() {
  static CpuPaths<LionCoefficients> paths(DSBUILD_CPU_PATHS(lion_step));
  return paths;
}

tvm::ffi::Any cpu_lion_step(Arguments& arguments) {
  const StepTensors tensors = read_lion_tensors(arguments, kDLCPU);
  const LionCoefficients c = coefficients(read_lion_options(arguments, tensors));
  run_cpu_step(paths().chosen().step, tensors, c);
  return {};
}

tvm::ffi::Any cpu_lion_isa(Arguments& arguments) {
  arguments.end();
  return tvm::ffi::String(paths().chosen().name);
}

tvm::ffi::Any cpu_lion_use_isa(Arguments& arguments) {
  paths().choose(arguments);
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(cpu_lion_step, dsbuild::ops::cpu_lion_step)
DSBUILD_EXPORT(cpu_lion_isa, dsbuild::ops::cpu_lion_isa)
DSBUILD_EXPORT(cpu_lion_use_isa, dsbuild::ops::cpu_lion_use_isa)
