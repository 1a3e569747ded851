// What Python calls: ops/native/fused_adam/functions.yaml; the formulas: docs/reference/ops.md.
#include "adam_arguments.h"
#include "cuda_step.h"
#include "fused_adam.h"

namespace dsbuild::ops {
namespace {

tvm::ffi::Any fused_adam_step(Arguments& arguments) {
  const StepTensors tensors = read_adam_tensors(arguments, k_gpu);
  const AdamOptions options = read_adam_options(arguments, tensors);
  if (tensors.params.empty()) return {};
  const StepTypes types = step_types(tensors);
  run_step(arguments.function(), tensors, [&](cudaStream_t stream) {
    return launch_fused_adam(adam_arrays(tensors), types.param, types.grad, options, stream);
  });
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fused_adam_step, dsbuild::ops::fused_adam_step)
