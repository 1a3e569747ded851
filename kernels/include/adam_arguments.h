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
  const MomentArguments moments = read_moments(arguments);
  o.adam_w_mode = arguments.flag("adam_w_mode");
  o.bias_correction = arguments.flag("bias_correction");
  o.weight_decay = arguments.number("weight_decay");
  o.grad_scale = arguments.number_or("grad_scale", 1);
  arguments.end();
  set_checked(o, arguments, moments, t);
  check_finite(arguments, "weight_decay", o.weight_decay);
  check_finite(arguments, "grad_scale", o.grad_scale);
  return o;
}

}  // namespace dsbuild::ops
