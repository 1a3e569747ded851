// The arguments that fused_adam_step and cpu_adam_step share, read and checked.
#pragma once

#include "adam.h"
#include "optimizer_arguments.h"

namespace dsbuild::ops {

inline StepTensors read_adam_tensors(Arguments& arguments, DLDeviceType device_type) {
  return read_step_tensors(arguments, device_type, {"exp_avgs", "exp_avg_sqs"});
}

inline AdamOptions read_adam_options(Arguments& arguments, const StepTensors& t) {
  AdamOptions o{};
  const auto lr = arguments.number_or_tensor("lr");
  o.beta1 = arguments.number("beta1");
  o.beta2 = arguments.number("beta2");
  o.eps = arguments.number("eps");
  const auto step = arguments.integer_or_tensor("step");
  o.adam_w_mode = arguments.flag("adam_w_mode");
  o.bias_correction = arguments.flag("bias_correction");
  o.weight_decay = arguments.number("weight_decay");
  o.grad_scale = arguments.number_or("grad_scale", 1);
  arguments.end();
  o.lr = checked_lr(arguments, lr, t);
  check_decay(arguments, "beta1", o.beta1);
  check_decay(arguments, "beta2", o.beta2);
  check_finite_and_not_negative(arguments, "eps", o.eps);
  o.step = checked_step(arguments, step, t);
  check_finite(arguments, "weight_decay", o.weight_decay);
  check_finite(arguments, "grad_scale", o.grad_scale);
  return o;
}

}  // namespace dsbuild::ops
