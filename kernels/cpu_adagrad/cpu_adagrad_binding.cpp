// What Python calls: ops/native/cpu_adagrad/functions.yaml; the formulas: docs/reference/ops.md.
#include "cpu_adagrad.h"

#include "cpu_paths.h"
#include "cpu_step.h"

namespace dsbuild::ops {
namespace {

CpuPaths<AdagradCoefficients>& paths() {
  static CpuPaths<AdagradCoefficients> paths(DSBUILD_CPU_PATHS(adagrad_step));
  return paths;
}

AdagradCoefficients read_coefficients(Arguments& arguments, const StepTensors& t) {
  const auto lr = arguments.number_or_tensor("lr");
  const double eps = arguments.number("eps");
  const double weight_decay = arguments.number("weight_decay");
  const double grad_scale = arguments.number_or("grad_scale", 1);
  arguments.end();
  const double step_size = checked_lr(arguments, lr, t).value();
  check_finite_and_not_negative(arguments, "eps", eps);
  check_finite(arguments, "weight_decay", weight_decay);
  check_finite(arguments, "grad_scale", grad_scale);
  return {static_cast<float>(grad_scale), static_cast<float>(weight_decay), static_cast<float>(step_size),
          static_cast<float>(eps)};
}

tvm::ffi::Any cpu_adagrad_step(Arguments& arguments) {
  const StepTensors tensors = read_step_tensors(arguments, kDLCPU, {"exp_avg_sqs"});
  const AdagradCoefficients c = read_coefficients(arguments, tensors);
  run_cpu_step(paths().chosen().step, tensors, c);
  return {};
}

tvm::ffi::Any cpu_adagrad_isa(Arguments& arguments) {
  arguments.end();
  return tvm::ffi::String(paths().chosen().name);
}

tvm::ffi::Any cpu_adagrad_use_isa(Arguments& arguments) {
  paths().choose(arguments);
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(cpu_adagrad_step, dsbuild::ops::cpu_adagrad_step)
DSBUILD_EXPORT(cpu_adagrad_isa, dsbuild::ops::cpu_adagrad_isa)
DSBUILD_EXPORT(cpu_adagrad_use_isa, dsbuild::ops::cpu_adagrad_use_isa)
