// The arguments that fused_adam_step and cpu_adam_step share, read and checked.
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "adam.h"
#include "arguments.h"
#include "tensor_checks.h"

namespace dsbuild::ops {

struct AdamTensors {
  std::vector<TensorArgument> params, grads, exp_avgs, exp_avg_sqs;
};

inline void check_same_length(const Arguments& arguments, const char* name,
                              const std::vector<TensorArgument>& list,
                              const std::vector<TensorArgument>& params) {
  if (list.size() == params.size()) return;
  TVM_FFI_THROW(ValueError) << arguments.where(name) << ": expected " << params.size()
                            << " tensors like params, got " << list.size();
}

// Dtypes of params and grads are the caller's to check; moments are always float32.
inline AdamTensors read_adam_tensors(Arguments& arguments, DLDeviceType device_type) {
  AdamTensors t;
  t.params = arguments.tensors("params");
  t.grads = arguments.tensors("grads");
  t.exp_avgs = arguments.tensors("exp_avgs");
  t.exp_avg_sqs = arguments.tensors("exp_avg_sqs");
  check_same_length(arguments, "grads", t.grads, t.params);
  check_same_length(arguments, "exp_avgs", t.exp_avgs, t.params);
  check_same_length(arguments, "exp_avg_sqs", t.exp_avg_sqs, t.params);
  for (size_t i = 0; i < t.params.size(); ++i) {
    for (const TensorArgument* tensor : {&t.params[i], &t.grads[i], &t.exp_avgs[i], &t.exp_avg_sqs[i]}) {
      check_device_type(*tensor, device_type);
      check_same_device(*tensor, t.params[0].view.device());
      check_same_shape(*tensor, t.params[i]);
      check_contiguous(*tensor);
    }
    check_dtype(t.exp_avgs[i], {k_float32});
    check_dtype(t.exp_avg_sqs[i], {k_float32});
  }
  return t;
}

inline AdamOptions read_adam_options(Arguments& arguments) {
  AdamOptions o{};
  o.lr = arguments.number("lr");
  o.beta1 = arguments.number("beta1");
  o.beta2 = arguments.number("beta2");
  o.eps = arguments.number("eps");
  o.step = arguments.integer("step");
  o.adam_w_mode = arguments.flag("adam_w_mode");
  o.bias_correction = arguments.flag("bias_correction");
  o.weight_decay = arguments.number("weight_decay");
  o.grad_scale = arguments.number_or("grad_scale", 1);
  arguments.end();
  check_value(arguments, "lr", std::isfinite(o.lr), "a finite number");
  check_value(arguments, "beta1", o.beta1 >= 0 && o.beta1 < 1, "a number in [0, 1)");
  check_value(arguments, "beta2", o.beta2 >= 0 && o.beta2 < 1, "a number in [0, 1)");
  check_value(arguments, "eps", std::isfinite(o.eps) && o.eps >= 0, "a finite number >= 0");
  check_value(arguments, "step", o.step >= 1, "1 or more (the first step is 1)");
  check_value(arguments, "weight_decay", std::isfinite(o.weight_decay), "a finite number");
  check_value(arguments, "grad_scale", std::isfinite(o.grad_scale), "a finite number");
  return o;
}

}  // namespace dsbuild::ops
