// What Python calls: ops/native/fp_quantizer/functions.yaml; the formulas: docs/reference/ops.md.
#include "cuda_call.h"
#include "fp8_arguments.h"
#include "fp_quantizer.h"
#include "grouped_arguments.h"

namespace dsbuild::ops {
namespace {

GroupedValues checked_arrays(const TensorArgument& values, const TensorArgument& codes,
                             const TensorArgument& scales, int group_size) {
  const GroupedValues arrays = checked_groups({values, codes, scales, nullptr}, group_size);
  check_dtype(codes, {k_uint8});
  check_same_shape(codes, values);
  return arrays;
}

using Launch = cudaError_t (*)(const GroupedValues&, Fp8Format, cudaStream_t);

void run(const char* function, Launch launch, const GroupedValues& arrays, Fp8Format format, int device) {
  const DeviceScope scope(function, device);
  check_cuda(function, launch(arrays, format, current_stream(device)), device);
}

tvm::ffi::Any fp_quantize(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument output = arguments.tensor("output");
  const TensorArgument scales = arguments.tensor("scales");
  const int group_size = read_group_size(arguments);
  const Fp8Format format = read_fp8_format(arguments, "format");
  arguments.end();
  run("fp_quantize", launch_fp_quantize, checked_arrays(input, output, scales, group_size), format,
      input.view.device().device_id);
  return {};
}

tvm::ffi::Any fp_dequantize(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument scales = arguments.tensor("scales");
  const TensorArgument output = arguments.tensor("output");
  const int group_size = read_group_size(arguments);
  const Fp8Format format = read_fp8_format(arguments, "format");
  arguments.end();
  run("fp_dequantize", launch_fp_dequantize, checked_arrays(output, input, scales, group_size), format,
      output.view.device().device_id);
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fp_quantize, dsbuild::ops::fp_quantize)
DSBUILD_EXPORT(fp_dequantize, dsbuild::ops::fp_dequantize)
