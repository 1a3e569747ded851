// The functions of rms_norm and layer_norm, on the arguments that Python gives them.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "cuda_call.h"
#include "norm.h"
#include "tensor_checks.h"

namespace dsbuild::ops {

using OptionalTensor = std::optional<TensorArgument>;

inline NormShape norm_shape(const TensorArgument& input) {
  check_device_type(input, kDLCUDA);
  const FloatType type = float_type(input);
  const int32_t dimensions = input.view.ndim();
  const int64_t hidden = dimensions == 0 ? 0 : input.view.size(dimensions - 1);
  if (hidden < 1 || hidden > k_max_hidden) {
    TVM_FFI_THROW(ValueError) << input.where << ": expected a last dimension of 1 to " << k_max_hidden
                              << " elements, got the shape " << shape_text(input.view);
  }
  return {input.view.numel() / hidden, static_cast<int>(hidden), type};
}

inline void check_place(const TensorArgument& tensor, const TensorArgument& input) {
  check_device_type(tensor, kDLCUDA);
  check_same_device(tensor, input.view.device());
  check_contiguous(tensor);
}

inline void* checked_like_input(const TensorArgument& tensor, const TensorArgument& input) {
  check_place(tensor, input);
  check_dtype(tensor, {input.view.dtype()});
  check_same_shape(tensor, input);
  return elements<void>(tensor);
}

// One for each row.
inline float* checked_statistic(const OptionalTensor& tensor, const TensorArgument& input) {
  if (!tensor) return nullptr;
  check_place(*tensor, input);
  check_dtype(*tensor, {k_float32});
  std::vector<int64_t> shape = shape_of(input.view);
  shape.pop_back();
  check_shape(*tensor, shape);
  return elements<float>(*tensor);
}

inline NormParameter checked_parameter(const OptionalTensor& tensor, const TensorArgument& input) {
  if (!tensor) return {nullptr, false};
  check_place(*tensor, input);
  const bool is_float32 = same_dtype(tensor->view.dtype(), k_float32);
  if (same_dtype(input.view.dtype(), k_float32)) check_dtype(*tensor, {k_float32});
  if (!is_float32) check_dtype(*tensor, {input.view.dtype(), k_float32});
  check_shape(*tensor, {input.view.size(input.view.ndim() - 1)});
  return {elements<void>(*tensor), is_float32};
}

inline NormParameter checked_gradient(const OptionalTensor& gradient, const OptionalTensor& parameter,
                                      const TensorArgument& input) {
  if (!gradient) return {nullptr, false};
  if (!parameter) {
    TVM_FFI_THROW(ValueError) << gradient->where << ": expected None where there is no such parameter";
  }
  const NormParameter checked = checked_parameter(gradient, input);
  check_dtype(*gradient, {parameter->view.dtype()});
  return checked;
}

inline float* checked_scratch(const TensorArgument& scratch, const TensorArgument& input, int64_t needed) {
  check_place(scratch, input);
  check_dtype(scratch, {k_float32});
  if (scratch.view.numel() >= needed) return elements<float>(scratch);
  const std::string function = scratch.where.substr(0, scratch.where.rfind("_backward"));
  TVM_FFI_THROW(ValueError) << scratch.where << ": expected at least " << needed << " elements (what "
                            << function << "_scratch(input) gives), got " << scratch.view.numel();
}

inline tvm::ffi::Any norm_forward(Arguments& arguments, bool centred) {
  const TensorArgument input = arguments.tensor("input");
  const OptionalTensor weight = arguments.optional_tensor("weight");
  const OptionalTensor bias = centred ? arguments.optional_tensor("bias") : std::nullopt;
  const TensorArgument out = arguments.tensor("out");
  const OptionalTensor mean = centred ? OptionalTensor(arguments.tensor("mean")) : std::nullopt;
  const TensorArgument rstd = arguments.tensor("rstd");
  const double eps = arguments.number("eps");
  arguments.end();
  check_value(arguments, "eps", std::isfinite(eps) && eps >= 0, "a finite number >= 0");
  NormForward call{};
  call.shape = norm_shape(input);
  call.input = checked_like_input(input, input);
  call.weight = checked_parameter(weight, input);
  call.bias = checked_parameter(bias, input);
  call.out = checked_like_input(out, input);
  call.mean = checked_statistic(mean, input);
  call.rstd = checked_statistic(rstd, input);
  call.eps = static_cast<float>(eps);
  const int device = input.view.device().device_id;
  const DeviceScope scope(arguments.function(), device);
  check_cuda(arguments.function(), launch_norm_forward(call, current_stream(device)), device);
  return {};
}

inline tvm::ffi::Any norm_backward(Arguments& arguments, bool centred) {
  const TensorArgument grad_out = arguments.tensor("grad_out");
  const TensorArgument input = arguments.tensor("input");
  const OptionalTensor weight = arguments.optional_tensor("weight");
  const OptionalTensor bias = centred ? arguments.optional_tensor("bias") : std::nullopt;
  const OptionalTensor mean = centred ? OptionalTensor(arguments.tensor("mean")) : std::nullopt;
  const TensorArgument rstd = arguments.tensor("rstd");
  const TensorArgument grad_input = arguments.tensor("grad_input");
  const OptionalTensor grad_weight = arguments.optional_tensor("grad_weight");
  const OptionalTensor grad_bias = centred ? arguments.optional_tensor("grad_bias") : std::nullopt;
  const TensorArgument scratch = arguments.tensor("scratch");
  arguments.end();
  NormBackward call{};
  call.shape = norm_shape(input);
  call.grad_out = checked_like_input(grad_out, input);
  call.input = checked_like_input(input, input);
  call.weight = checked_parameter(weight, input);
  checked_parameter(bias, input);
  call.mean = checked_statistic(mean, input);
  call.rstd = checked_statistic(rstd, input);
  call.grad_input = checked_like_input(grad_input, input);
  call.grad_weight = checked_gradient(grad_weight, weight, input);
  call.grad_bias = checked_gradient(grad_bias, bias, input);
  const int device = input.view.device().device_id;
  const DeviceScope scope(arguments.function(), device);
  const bool wanted = grad_weight || grad_bias;
  float* const sums = checked_scratch(scratch, input, wanted ? norm_scratch_elements(call.shape) : 0);
  call.scratch = wanted ? sums : nullptr;
  check_cuda(arguments.function(), launch_norm_backward(call, current_stream(device)), device);
  return {};
}

inline tvm::ffi::Any norm_scratch(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  arguments.end();
  const NormShape shape = norm_shape(input);
  const DeviceScope scope(arguments.function(), input.view.device().device_id);
  return tvm::ffi::Any(norm_scratch_elements(shape));
}

}  // namespace dsbuild::ops
