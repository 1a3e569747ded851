// What Python calls: ops/native/fused_lamb/functions.yaml; the formulas: docs/reference/ops.md.
#include "cuda_step.h"
#include "fused_lamb.h"

namespace dsbuild::ops {
namespace {

LambOptions read_options(Arguments& arguments, const StepTensors& t) {
  LambOptions o{};
  const MomentArguments moments = read_moments(arguments);
  o.eps_inside_sqrt = arguments.flag("eps_inside_sqrt");
  o.bias_correction = arguments.flag("bias_correction");
  o.weight_decay = arguments.number("weight_decay");
  o.min_coeff = arguments.number("min_coeff");
  o.max_coeff = arguments.number("max_coeff");
  o.grad_scale = arguments.number_or("grad_scale", 1);
  arguments.end();
  set_checked(o, arguments, moments, t);
  check_finite(arguments, "weight_decay", o.weight_decay);
  check_finite_and_not_negative(arguments, "min_coeff", o.min_coeff);
  check_finite_and_not_negative(arguments, "max_coeff", o.max_coeff);
  check_value(arguments, "max_coeff", o.max_coeff >= o.min_coeff, "a number that is not below min_coeff");
  check_finite(arguments, "grad_scale", o.grad_scale);
  return o;
}

int64_t scratch_elements(const std::vector<TensorArgument>& params) {
  std::vector<int64_t> counts;
  for (const TensorArgument& param : params)
    counts.push_back(param.view.numel());
  return lamb_scratch_elements(counts);
}

void check_scratch(const TensorArgument& scratch, const StepTensors& t) {
  check_device_type(scratch, k_gpu);
  if (!t.params.empty()) check_same_device(scratch, t.params[0].view.device());
  check_contiguous(scratch);
  check_dtype(scratch, {k_float32});
  const int64_t needed = scratch_elements(t.params);
  if (scratch.view.numel() >= needed) return;
  TVM_FFI_THROW(ValueError) << scratch.where << ": expected at least " << needed << " elements, got "
                            << scratch.view.numel();
}

tvm::ffi::Any fused_lamb_step(Arguments& arguments) {
  const StepTensors tensors = read_step_tensors(arguments, k_gpu, {"exp_avgs", "exp_avg_sqs"});
  const TensorArgument scratch = arguments.tensor("scratch");
  const LambOptions options = read_options(arguments, tensors);
  check_scratch(scratch, tensors);
  if (tensors.params.empty()) return {};
  const StepTypes types = step_types(tensors);
  run_step(arguments.function(), tensors, [&](cudaStream_t stream) {
    return launch_fused_lamb(adam_arrays(tensors), types.param, types.grad, elements<float>(scratch), options,
                             stream);
  });
  return {};
}

tvm::ffi::Any fused_lamb_scratch(Arguments& arguments) {
  const auto params = arguments.tensors("params");
  arguments.end();
  return scratch_elements(params);
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fused_lamb_step, dsbuild::ops::fused_lamb_step)
DSBUILD_EXPORT(fused_lamb_scratch, dsbuild::ops::fused_lamb_scratch)
