// The arguments that the optimisers' steps share, read and checked.
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "arguments.h"
#include "late_value.h"
#include "tensor_checks.h"

namespace dsbuild::ops {

inline void check_same_length(const Arguments& arguments, const char* name,
                              const std::vector<TensorArgument>& list,
                              const std::vector<TensorArgument>& params) {
  if (list.size() == params.size()) return;
  TVM_FFI_THROW(ValueError) << arguments.where(name) << ": expected " << params.size()
                            << " tensors like params, got " << list.size();
}

// What every step takes. Dtypes of params and grads are the caller's to check; those of the states are
// float32.
struct StepTensors {
  DLDeviceType device_type;
  std::vector<TensorArgument> params, grads;
  std::vector<std::vector<TensorArgument>> states;
};

inline StepTensors read_step_tensors(Arguments& arguments, DLDeviceType device_type,
                                     std::initializer_list<const char*> states) {
  StepTensors t{device_type, arguments.tensors("params"), arguments.tensors("grads"), {}};
  for (const char* name : states)
    t.states.push_back(arguments.tensors(name));
  check_same_length(arguments, "grads", t.grads, t.params);
  for (size_t s = 0; s < states.size(); ++s)
    check_same_length(arguments, states.begin()[s], t.states[s], t.params);
  for (size_t i = 0; i < t.params.size(); ++i) {
    std::vector<const TensorArgument*> tensors{&t.params[i], &t.grads[i]};
    for (const auto& state : t.states)
      tensors.push_back(&state[i]);
    for (const TensorArgument* tensor : tensors) {
      check_device_type(*tensor, device_type);
      check_same_device(*tensor, t.params[0].view.device());
      check_same_shape(*tensor, t.params[i]);
      check_contiguous(*tensor);
    }
    for (const auto& state : t.states)
      check_dtype(state[i], {k_float32});
  }
  return t;
}

// A tensor in place of a number: it lies where the others do.
inline void check_late_tensor(const TensorArgument& tensor, const StepTensors& t,
                              std::initializer_list<DLDataType> dtypes) {
  check_device_type(tensor, t.device_type);
  if (!t.params.empty()) check_same_device(tensor, t.params[0].view.device());
  check_dtype(tensor, dtypes);
  check_one_element(tensor);
}

// What lies on a GPU is not looked at: that would wait for it.
template <class Late>
bool is_known(const Late& late, const StepTensors& t) {
  return !late.late() || t.device_type == kDLCPU;
}

inline LateNumber checked_lr(const Arguments& arguments, const ValueOrTensor<double>& lr,
                             const StepTensors& t) {
  if (lr.tensor) check_late_tensor(*lr.tensor, t, {k_float32});
  const LateNumber late{lr.value, lr.tensor ? elements<const float>(*lr.tensor) : nullptr};
  check_value(arguments, "lr", !is_known(late, t) || std::isfinite(late.value()), "a finite number");
  return late;
}

inline IntegerType integer_type(const TensorArgument& tensor) {
  if (same_dtype(tensor.view.dtype(), k_int64)) return IntegerType::int64;
  return same_dtype(tensor.view.dtype(), k_int32) ? IntegerType::int32 : IntegerType::float32;
}

inline LateInteger checked_step(const Arguments& arguments, const ValueOrTensor<int64_t>& step,
                                const StepTensors& t) {
  if (step.tensor) check_late_tensor(*step.tensor, t, {k_int64, k_int32, k_float32});
  const LateInteger late{step.value, step.tensor ? elements<const void>(*step.tensor) : nullptr,
                         step.tensor ? integer_type(*step.tensor) : IntegerType::int64};
  check_value(arguments, "step", !is_known(late, t) || late.value() >= 1, "1 or more (the first step is 1)");
  return late;
}

inline void check_decay(const Arguments& arguments, const char* name, double decay) {
  check_value(arguments, name, decay >= 0 && decay < 1, "a number in [0, 1)");
}

inline void check_finite(const Arguments& arguments, const char* name, double number) {
  check_value(arguments, name, std::isfinite(number), "a finite number");
}

inline void check_finite_and_not_negative(const Arguments& arguments, const char* name, double number) {
  check_value(arguments, name, std::isfinite(number) && number >= 0, "a finite number >= 0");
}

// lr, the decays, eps and step, which Adam and LAMB begin with: read in this order, and checked when all
// arguments were read.
struct MomentArguments {
  ValueOrTensor<double> lr;
  double beta1, beta2, eps;
  ValueOrTensor<int64_t> step;
};

inline MomentArguments read_moments(Arguments& arguments) {
  MomentArguments m{};
  m.lr = arguments.number_or_tensor("lr");
  m.beta1 = arguments.number("beta1");
  m.beta2 = arguments.number("beta2");
  m.eps = arguments.number("eps");
  m.step = arguments.integer_or_tensor("step");
  return m;
}

template <class Options>
void set_checked(Options& o, const Arguments& arguments, const MomentArguments& m, const StepTensors& t) {
  o.lr = checked_lr(arguments, m.lr, t);
  o.beta1 = m.beta1;
  o.beta2 = m.beta2;
  o.eps = m.eps;
  check_decay(arguments, "beta1", o.beta1);
  check_decay(arguments, "beta2", o.beta2);
  check_finite_and_not_negative(arguments, "eps", o.eps);
  o.step = checked_step(arguments, m.step, t);
}

}  // namespace dsbuild::ops
