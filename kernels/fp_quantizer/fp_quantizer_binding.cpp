// Python: fp_quantize(input, output, scales, group_size, format) and
// fp_dequantize(input, scales, output, group_size, format). docs/ops.md has the formulas.
#include <string>

#include "arguments.h"
#include "cuda_call.h"
#include "fp_quantizer.h"
#include "tensor_checks.h"

namespace dsbuild::ops {
namespace {

int read_group_size(Arguments& arguments) {
  const int64_t size = arguments.integer("group_size");
  check_value(arguments, "group_size",
              size >= k_group_step && size <= k_max_group_size && size % k_group_step == 0,
              "a multiple of 8 between 8 and 8192");
  return static_cast<int>(size);
}

Fp8Format read_format(Arguments& arguments) {
  const std::string name = arguments.text("format");
  check_value(arguments, "format", name == "e4m3" || name == "e5m2", "\"e4m3\" or \"e5m2\"");
  return name == "e4m3" ? Fp8Format::e4m3 : Fp8Format::e5m2;
}

void check_scales(const TensorArgument& scales, int64_t count, int group_size) {
  const int64_t groups = (count + group_size - 1) / group_size;
  if (scales.view.numel() == groups) return;
  TVM_FFI_THROW(ValueError) << scales.where << ": expected " << groups << " elements (one per group of "
                            << group_size << "), got " << scales.view.numel();
}

Fp8Values checked_arrays(const TensorArgument& values, const TensorArgument& codes,
                         const TensorArgument& scales, int group_size) {
  for (const TensorArgument* tensor : {&values, &codes, &scales}) {
    check_device_type(*tensor, kDLCUDA);
    check_same_device(*tensor, values.view.device());
    check_contiguous(*tensor);
  }
  const FloatType type = float_type(values);
  check_dtype(codes, {k_uint8});
  check_dtype(scales, {k_float32});
  check_same_shape(codes, values);
  check_scales(scales, values.view.numel(), group_size);
  return {elements<void>(values), type,      elements<uint8_t>(codes), elements<float>(scales),
          values.view.numel(),    group_size};
}

using Launch = cudaError_t (*)(const Fp8Values&, Fp8Format, cudaStream_t);

void run(const char* function, Launch launch, const Fp8Values& arrays, Fp8Format format, int device) {
  const DeviceScope scope(function, device);
  check_cuda(function, launch(arrays, format, current_stream(device)), device);
}

tvm::ffi::Any fp_quantize(Arguments& arguments) {
  const TensorArgument input = arguments.tensor("input");
  const TensorArgument output = arguments.tensor("output");
  const TensorArgument scales = arguments.tensor("scales");
  const int group_size = read_group_size(arguments);
  const Fp8Format format = read_format(arguments);
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
  const Fp8Format format = read_format(arguments);
  arguments.end();
  run("fp_dequantize", launch_fp_dequantize, checked_arrays(output, input, scales, group_size), format,
      output.view.device().device_id);
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fp_quantize, dsbuild::ops::fp_quantize)
DSBUILD_EXPORT(fp_dequantize, dsbuild::ops::fp_dequantize)
