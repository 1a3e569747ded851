// What Python calls: ops/native/fused_adam/functions.yaml; the formulas: docs/ops.md.
#include "adam_arguments.h"
#include "cuda_call.h"
#include "fused_adam.h"

namespace dsbuild::ops {
namespace {

constexpr const char* k_step = "fused_adam_step";

// One call, one dtype for all parameters and one for all gradients.
FloatType common_type(const std::vector<TensorArgument>& tensors) {
  const FloatType type = float_type(tensors[0]);
  for (const TensorArgument& tensor : tensors) {
    if (float_type(tensor) == type) continue;
    TVM_FFI_THROW(TypeError) << tensor.where << ": expected " << dtype_name(tensors[0].view.dtype())
                             << " like the first of its list, got " << dtype_name(tensor.view.dtype());
  }
  return type;
}

void check_grad_type(const TensorArgument& param, FloatType param_type, const TensorArgument& grad,
                     FloatType grad_type) {
  if (adam_supports(param_type, grad_type)) return;
  TVM_FFI_THROW(TypeError) << grad.where << ": expected " << dtype_name(param.view.dtype())
                           << " like params, got " << dtype_name(grad.view.dtype());
}

std::vector<AdamArrays> arrays_of(const AdamTensors& t) {
  std::vector<AdamArrays> arrays;
  for (size_t i = 0; i < t.params.size(); ++i) {
    arrays.push_back({elements<void>(t.params[i]), elements<void>(t.grads[i]), elements<float>(t.exp_avgs[i]),
                      elements<float>(t.exp_avg_sqs[i]), t.params[i].view.numel()});
  }
  return arrays;
}

tvm::ffi::Any fused_adam_step(Arguments& arguments) {
  const AdamTensors tensors = read_adam_tensors(arguments, kDLCUDA);
  const AdamOptions options = read_adam_options(arguments);
  if (tensors.params.empty()) return {};
  const FloatType param_type = common_type(tensors.params);
  const FloatType grad_type = common_type(tensors.grads);
  check_grad_type(tensors.params[0], param_type, tensors.grads[0], grad_type);
  const int device = tensors.params[0].view.device().device_id;
  const DeviceScope scope(k_step, device);
  check_cuda(k_step,
             launch_fused_adam(arrays_of(tensors), param_type, grad_type, adam_coefficients(options),
                               current_stream(device)),
             device);
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fused_adam_step, dsbuild::ops::fused_adam_step)
