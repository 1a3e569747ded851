// What Python calls: ops/native/cpu_adam/functions.yaml; the formulas: docs/reference/ops.md.
#include "cpu_adam.h"

#include "adam_arguments.h"
#include "cpu_paths.h"
#include "cpu_step.h"

namespace dsbuild::ops {
namespace {

CpuPaths<AdamCoefficients>& paths() {
  static CpuPaths<AdamCoefficients> paths(DSBUILD_CPU_PATHS(adam_step));
  return paths;
}

tvm::ffi::Any cpu_adam_step(Arguments& arguments) {
  const StepTensors tensors = read_adam_tensors(arguments, kDLCPU);
  const AdamCoefficients c = coefficients(read_adam_options(arguments, tensors));
  run_cpu_step(paths().chosen().step, tensors, c);
  return {};
}

tvm::ffi::Any cpu_adam_isa(Arguments& arguments) {
  arguments.end();
  return tvm::ffi::String(paths().chosen().name);
}

tvm::ffi::Any cpu_adam_use_isa(Arguments& arguments) {
  paths().choose(arguments);
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(cpu_adam_step, dsbuild::ops::cpu_adam_step)
DSBUILD_EXPORT(cpu_adam_isa, dsbuild::ops::cpu_adam_isa)
DSBUILD_EXPORT(cpu_adam_use_isa, dsbuild::ops::cpu_adam_use_isa)
