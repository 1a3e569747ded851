// Checks of tensor arguments. Each raises with the argument's name: ValueError for device, shape, layout and
// value, TypeError for dtype.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "arguments.h"
#include "float_type.h"

namespace dsbuild::ops {

inline constexpr DLDataType k_float32{kDLFloat, 32, 1};
inline constexpr DLDataType k_float16{kDLFloat, 16, 1};
inline constexpr DLDataType k_bfloat16{kDLBfloat, 16, 1};
inline constexpr DLDataType k_uint8{kDLUInt, 8, 1};
inline constexpr DLDataType k_int32{kDLInt, 32, 1};
inline constexpr DLDataType k_int64{kDLInt, 64, 1};

inline bool same_dtype(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

inline std::string dtype_name(DLDataType dtype) {
  return tvm::ffi::DLDataTypeToString(dtype);
}

inline std::string device_name(DLDevice device) {
  if (device.device_type == kDLCPU) return "cpu";
  const std::string id = ":" + std::to_string(device.device_id);
  if (device.device_type == kDLCUDA) return "cuda" + id;
  if (device.device_type == kDLROCM) return "rocm" + id;
  return "device type " + std::to_string(device.device_type) + id;
}

inline std::vector<int64_t> shape_of(const tvm::ffi::TensorView& view) {
  std::vector<int64_t> shape;
  for (int32_t i = 0; i < view.ndim(); ++i)
    shape.push_back(view.size(i));
  return shape;
}

inline std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + ")";
}

inline std::string shape_text(const tvm::ffi::TensorView& view) {
  return shape_text(shape_of(view));
}

inline const char* device_type_name(DLDeviceType type) {
  if (type == kDLCPU) return "CPU";
  return type == kDLROCM ? "ROCm" : "CUDA";
}

inline void check_device_type(const TensorArgument& tensor, DLDeviceType type) {
  if (tensor.view.device().device_type == type) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected a " << device_type_name(type)
                            << " tensor, got one on " << device_name(tensor.view.device());
}

inline void check_same_device(const TensorArgument& tensor, DLDevice device) {
  const DLDevice own = tensor.view.device();
  if (own.device_type == device.device_type && own.device_id == device.device_id) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected a tensor on " << device_name(device)
                            << " like the others, got one on " << device_name(own);
}

inline void check_contiguous(const TensorArgument& tensor) {
  if (!tensor.view.IsContiguous()) TVM_FFI_THROW(ValueError) << tensor.where << ": expected contiguous";
}

inline void check_dtype(const TensorArgument& tensor, std::initializer_list<DLDataType> allowed) {
  std::string names;
  for (const DLDataType dtype : allowed) {
    if (same_dtype(tensor.view.dtype(), dtype)) return;
    names += (names.empty() ? "" : " or ") + dtype_name(dtype);
  }
  TVM_FFI_THROW(TypeError) << tensor.where << ": expected " << names << ", got "
                           << dtype_name(tensor.view.dtype());
}

inline FloatType float_type(const TensorArgument& tensor) {
  check_dtype(tensor, {k_float32, k_float16, k_bfloat16});
  if (same_dtype(tensor.view.dtype(), k_float32)) return FloatType::float32;
  return same_dtype(tensor.view.dtype(), k_float16) ? FloatType::float16 : FloatType::bfloat16;
}

inline void check_shape(const TensorArgument& tensor, const std::vector<int64_t>& shape) {
  if (shape_of(tensor.view) == shape) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected the shape " << shape_text(shape) << ", got "
                            << shape_text(tensor.view);
}

inline void check_same_shape(const TensorArgument& tensor, const TensorArgument& model) {
  if (shape_of(tensor.view) == shape_of(model.view)) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected the shape " << shape_text(model.view) << " of "
                            << model.where.substr(model.where.find(": ") + 2) << ", got "
                            << shape_text(tensor.view);
}

inline void check_one_element(const TensorArgument& tensor) {
  if (tensor.view.numel() == 1) return;
  TVM_FFI_THROW(ValueError) << tensor.where << ": expected one element, got " << tensor.view.numel();
}

// `ok` says whether the value of argument `name` may be used.
inline void check_value(const Arguments& arguments, const char* name, bool ok, const char* expected) {
  if (!ok) TVM_FFI_THROW(ValueError) << arguments.where(name) << ": expected " << expected;
}

// Where the elements begin; DLPack allows a byte offset beside the pointer.
template <class T>
T* elements(const TensorArgument& tensor) {
  return reinterpret_cast<T*>(static_cast<char*>(tensor.view.data_ptr()) + tensor.view.byte_offset());
}

// Of a contiguous tensor.
inline size_t byte_count(const TensorArgument& tensor) {
  return tvm::ffi::GetDataSize(static_cast<size_t>(tensor.view.numel()), tensor.view.dtype());
}

}  // namespace dsbuild::ops
