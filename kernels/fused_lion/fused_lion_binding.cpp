// What Python calls: ops/native/fused_lion/functions.yaml; the formulas: docs/reference/ops.md.
#include "cuda_step.h"
#include "fused_lion.h"
#include "lion_arguments.h"

namespace dsbuild::ops {
namespace {

std::vector<LionArrays> lion_arrays(const StepTensors& t) {
  std::vector<LionArrays> arrays;
  for (size_t i = 0; i < t.params.size(); ++i) {
    arrays.push_back({elements<void>(t.params[i]), elements<void>(t.grads[i]),
                      elements<float>(t.states[0][i]), t.params[i].view.numel()});
  }
  return arrays;
}

tvm::ffi::Any fused_lion_step(Arguments& arguments) {
  const StepTensors tensors = read_lion_tensors(arguments, k_gpu);
  const LionOptions options = read_lion_options(arguments, tensors);
  if (tensors.params.empty()) return {};
  const StepTypes types = step_types(tensors);
  run_step(arguments.function(), tensors, [&](cudaStream_t stream) {
    return launch_fused_lion(lion_arrays(tensors), types.param, types.grad, options, stream);
  });
  return {};
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(fused_lion_step, dsbuild::ops::fused_lion_step)
