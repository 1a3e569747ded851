// What Python calls: ops/native/quantizer/functions.yaml; the formulas: docs/reference/ops.md.
#include "cuda_call.h"
#include "grouped_arguments.h"
#include "quantizer.h"

namespace dsbuild::ops {
namespace {

constexpr DLDataType k_int8{kDLInt, 8, 1};

int read_bits(Arguments& arguments) {
  const int64_t bits = arguments.integer("bits");
  check_value(arguments, "bits", bits == 8 || bits == 4, "8 or 4");
  return static_cast<int>(bits);
}

// A byte each, signed where they are symmetric; or two in a byte.
void check_codes(const GroupedTensors& t, int bits) {
  if (bits == 8) {
    check_dtype(t.codes, {t.offsets == nullptr ? k_int8 : k_uint8});
    check_same_shape(t.codes, t.values);
    return;
  }
  check_dtype(t.codes, {k_uint8});
  const int64_t bytes = (t.values.view.numel() + 1) / 2;
  if (t.codes.view.numel() == bytes) return;
  TVM_FFI_THROW(ValueError) << t.codes.where << ": expected " << bytes << " elements (two codes each), got "
                            << t.codes.view.numel();
}

using Launch = cudaError_t (*)(const GroupedValues&, int, cudaStream_t);

// Reads what is behind the tensors, checks all and launches.
tvm::ffi::Any run(Arguments& arguments, Launch launch, const GroupedTensors& t) {
  const int group_size = read_group_size(arguments);
  const int bits = read_bits(arguments);
  arguments.end();
  const GroupedValues arrays = checked_groups(t, group_size);
  check_codes(t, bits);
  const int device = t.values.view.device().device_id;
  const DeviceScope scope(arguments.function(), device);
  check_cuda(arguments.function(), launch(arrays, bits, current_stream(device)), device);
  return {};
}

tvm::ffi::Any quantize_symmetric(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument output = arguments.tensor("output");
  const TensorArgument scales = arguments.tensor("scales");
  return run(arguments, launch_quantize, {input, output, scales, nullptr});
}

tvm::ffi::Any quantize_asymmetric(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument output = arguments.tensor("output");
  const TensorArgument scales = arguments.tensor("scales");
  const TensorArgument offsets = arguments.tensor("offsets");
  return run(arguments, launch_quantize, {input, output, scales, &offsets});
}

tvm::ffi::Any dequantize_symmetric(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument scales = arguments.tensor("scales");
  const TensorArgument output = arguments.tensor("output");
  return run(arguments, launch_dequantize, {output, input, scales, nullptr});
}

tvm::ffi::Any dequantize_asymmetric(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument scales = arguments.tensor("scales");
  const TensorArgument offsets = arguments.tensor("offsets");
  const TensorArgument output = arguments.tensor("output");
  return run(arguments, launch_dequantize, {output, input, scales, &offsets});
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(quantize_symmetric, dsbuild::ops::quantize_symmetric)
DSBUILD_EXPORT(quantize_asymmetric, dsbuild::ops::quantize_asymmetric)
DSBUILD_EXPORT(dequantize_symmetric, dsbuild::ops::dequantize_symmetric)
DSBUILD_EXPORT(dequantize_asymmetric, dsbuild::ops::dequantize_asymmetric)
