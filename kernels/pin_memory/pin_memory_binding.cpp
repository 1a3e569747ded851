// What Python calls: ops/native/pin_memory/functions.yaml; what it promises: docs/reference/ops.md.
#include <string>
#include <vector>

#include "arguments.h"
#include "locked_memory.h"
#include "tensor_checks.h"

namespace dsbuild::ops {
namespace {

// A tensor's hold on its block: the memory goes with the last reference, not with a call.
struct LockedAllocator {
  void* data;
  void AllocData(DLTensor* tensor) { tensor->data = data; }
  void FreeData(DLTensor* tensor) { free_locked(tensor->data); }
};

std::vector<int64_t> read_shape(Arguments& arguments) {
  std::vector<int64_t> shape = arguments.integers("shape");
  for (const int64_t size : shape)
    check_value(arguments, "shape", size >= 0, "sizes of 0 or more");
  return shape;
}

size_t bytes_of(const Arguments& arguments, const std::vector<int64_t>& shape, DLDataType dtype) {
  const int64_t bits = int64_t{dtype.bits} * dtype.lanes;
  int64_t total = bits;
  bool fits = true;
  for (const int64_t size : shape)
    fits = !__builtin_mul_overflow(total, size, &total) && fits;
  check_value(arguments, "shape", fits, "fewer elements");
  return (static_cast<size_t>(total) + 7) / 8;
}

tvm::ffi::Any pin_memory_allocate(Arguments& arguments) {
  const std::vector<int64_t> shape = read_shape(arguments);
  const DLDataType dtype = arguments.dtype("dtype");
  arguments.end();
  const LockedBlock block = allocate_locked(bytes_of(arguments, shape, dtype));
  if (block.data == nullptr) TVM_FFI_THROW(RuntimeError) << arguments.function() << ": " << block.error;
  return tvm::ffi::Tensor::FromNDAlloc(LockedAllocator{block.data},
                                       tvm::ffi::ShapeView(shape.data(), shape.size()), dtype,
                                       DLDevice{kDLCPU, 0});
}

tvm::ffi::Any pin_memory_unlock(Arguments& arguments) {
  const TensorArgument tensor = arguments.tensor("tensor");
  arguments.end();
  if (!unlock(elements<void>(tensor))) {
    TVM_FFI_THROW(ValueError) << tensor.where << ": expected a tensor of pin_memory_allocate that is locked";
  }
  return {};
}

tvm::ffi::Any pin_memory_is_pinned(Arguments& arguments) {
  const TensorArgument tensor = arguments.tensor("tensor");
  arguments.end();
  check_contiguous(tensor);
  return is_locked(elements<void>(tensor), byte_count(tensor));
}

tvm::ffi::Any pin_memory_locked_bytes(Arguments& arguments) {
  arguments.end();
  return static_cast<int64_t>(locked_bytes());
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(pin_memory_allocate, dsbuild::ops::pin_memory_allocate)
DSBUILD_EXPORT(pin_memory_unlock, dsbuild::ops::pin_memory_unlock)
DSBUILD_EXPORT(pin_memory_is_pinned, dsbuild::ops::pin_memory_is_pinned)
DSBUILD_EXPORT(pin_memory_locked_bytes, dsbuild::ops::pin_memory_locked_bytes)
