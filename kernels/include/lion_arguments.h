// The arguments that fused_lion_step and cpu_lion_step share, read and checked.
#pragma once

#include "lion.h"
#include "optimizer_arguments.h"

namespace dsbuild::ops {

inline StepTensors read_lion_tensors(Arguments& arguments, DLDeviceType device_type) {
  return read_step_tensors(arguments, device_type, {"exp_avgs"});
}

inline LionOptions read_lion_options(Arguments& arguments, const StepTensors& t) {
  LionOptions o{};
  const auto lr = arguments.number_or_tensor("lr");
  o.beta1 = arguments.number("beta1");
  o.beta2 = arguments.number("beta2");
  o.weight_decay = arguments.number("weight_decay");
  o.grad_scale = arguments.number_or("grad_scale", 1);
  arguments.end();
  o.lr = checked_lr(arguments, lr, t);
  check_decay(arguments, "beta1", o.beta1);
  check_decay(arguments, "beta2", o.beta2);
  check_finite(arguments, "weight_decay", o.weight_decay);
  check_finite(arguments, "grad_scale", o.grad_scale);
  return o;
}

}  // namespace dsbuild::ops
