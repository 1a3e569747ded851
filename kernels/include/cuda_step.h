// What the binding of a GPU optimiser does around its launch.
#pragma once

#include <vector>

#include "cuda_call.h"
#include "optimizer_arguments.h"
#include "step_arrays.h"

namespace dsbuild::ops {

// One call, one dtype for all parameters and one for all gradients.
inline FloatType common_type(const std::vector<TensorArgument>& tensors) {
  const FloatType type = float_type(tensors[0]);
  for (const TensorArgument& tensor : tensors) {
    if (float_type(tensor) == type) continue;
    TVM_FFI_THROW(TypeError) << tensor.where << ": expected " << dtype_name(tensors[0].view.dtype())
                             << " like the first of its list, got " << dtype_name(tensor.view.dtype());
  }
  return type;
}

struct StepTypes {
  FloatType param, grad;
};

// Of a call with tensors.
inline StepTypes step_types(const StepTensors& t) {
  const StepTypes types{common_type(t.params), common_type(t.grads)};
  if (step_supports(types.param, types.grad)) return types;
  TVM_FFI_THROW(TypeError) << t.grads[0].where << ": expected " << dtype_name(t.params[0].view.dtype())
                           << " like params, got " << dtype_name(t.grads[0].view.dtype());
  TVM_FFI_UNREACHABLE();
}

// exp_avgs and exp_avg_sqs are the states.
inline std::vector<AdamArrays> adam_arrays(const StepTensors& t) {
  std::vector<AdamArrays> arrays;
  for (size_t i = 0; i < t.params.size(); ++i) {
    arrays.push_back({elements<void>(t.params[i]), elements<void>(t.grads[i]),
                      elements<float>(t.states[0][i]), elements<float>(t.states[1][i]),
                      t.params[i].view.numel()});
  }
  return arrays;
}

// launch(stream) on the tensors' device and the caller's stream there.
template <class Launch>
void run_step(const char* function, const StepTensors& t, const Launch& launch) {
  const int device = t.params[0].view.device().device_id;
  const DeviceScope scope(function, device);
  check_cuda(function, launch(current_stream(device)), device);
}

}  // namespace dsbuild::ops
