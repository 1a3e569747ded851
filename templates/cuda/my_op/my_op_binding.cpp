// Python: my_op_forward(x, y, alpha) sets y = alpha * x, float32 on one GPU, on the caller's stream.
// Every argument is checked before anything is written.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include "my_op.h"

namespace {

using tvm::ffi::TensorView;

void check_tensor(const TensorView& tensor, const char* name) {
  const DLDataType type = tensor.dtype();
  if (type.code != kDLFloat || type.bits != 32 || type.lanes != 1)
    TVM_FFI_THROW(TypeError) << "my_op_forward: " << name << ": expected float32";
  if (tensor.device().device_type != kDLCUDA)
    TVM_FFI_THROW(ValueError) << "my_op_forward: " << name << ": expected a CUDA tensor";
  if (!tensor.IsContiguous())
    TVM_FFI_THROW(ValueError) << "my_op_forward: " << name << ": expected contiguous";
}

void check_cuda(cudaError_t error) {
  if (error != cudaSuccess) TVM_FFI_THROW(RuntimeError) << "my_op_forward: " << cudaGetErrorString(error);
}

float* elements(const TensorView& tensor) {
  return reinterpret_cast<float*>(static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset());
}

void my_op_forward(TensorView x, TensorView y, double alpha) {
  check_tensor(x, "x");
  check_tensor(y, "y");
  const int device = x.device().device_id;
  if (y.device().device_id != device || y.numel() != x.numel())
    TVM_FFI_THROW(ValueError) << "my_op_forward: y: expected as many elements as x, on the same GPU";
  int previous = 0;
  check_cuda(cudaGetDevice(&previous));
  check_cuda(cudaSetDevice(device));
  const auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, device));
  const cudaError_t launched =
      launch_my_op(elements(x), elements(y), x.numel(), static_cast<float>(alpha), stream);
  check_cuda(cudaSetDevice(previous));
  check_cuda(launched);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(my_op_forward, my_op_forward)
