// Python: my_op_forward(x, y, alpha) sets y = alpha * x, float32.
// Every argument is checked before anything is written.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

#include <cstdint>

namespace {

using tvm::ffi::TensorView;

// The work. Put your own in its place.
void multiply(const float* x, float* y, int64_t count, float alpha) {
  for (int64_t i = 0; i < count; ++i)
    y[i] = alpha * x[i];
}

void check_tensor(const TensorView& tensor, const char* name) {
  const DLDataType type = tensor.dtype();
  if (type.code != kDLFloat || type.bits != 32 || type.lanes != 1)
    TVM_FFI_THROW(TypeError) << "my_op_forward: " << name << ": expected float32";
  if (tensor.device().device_type != kDLCPU)
    TVM_FFI_THROW(ValueError) << "my_op_forward: " << name << ": expected a CPU tensor";
  if (!tensor.IsContiguous())
    TVM_FFI_THROW(ValueError) << "my_op_forward: " << name << ": expected contiguous";
}

float* elements(const TensorView& tensor) {
  return reinterpret_cast<float*>(static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset());
}

void my_op_forward(TensorView x, TensorView y, double alpha) {
  check_tensor(x, "x");
  check_tensor(y, "y");
  if (y.numel() != x.numel()) TVM_FFI_THROW(ValueError) << "my_op_forward: y: expected as many elements as x";
  multiply(elements(x), elements(y), x.numel(), static_cast<float>(alpha));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(my_op_forward, my_op_forward)
