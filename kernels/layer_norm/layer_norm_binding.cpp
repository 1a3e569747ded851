// What Python calls: ops/native/layer_norm/functions.yaml; the formulas: docs/reference/ops.md.
#include "norm_binding.h"

namespace dsbuild::ops {
namespace {

tvm::ffi::Any layer_norm_forward(Arguments& arguments) {
  return norm_forward(arguments, true);
}

tvm::ffi::Any layer_norm_backward(Arguments& arguments) {
  return norm_backward(arguments, true);
}

tvm::ffi::Any layer_norm_scratch(Arguments& arguments) {
  return norm_scratch(arguments);
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(layer_norm_forward, dsbuild::ops::layer_norm_forward)
DSBUILD_EXPORT(layer_norm_backward, dsbuild::ops::layer_norm_backward)
DSBUILD_EXPORT(layer_norm_scratch, dsbuild::ops::layer_norm_scratch)
