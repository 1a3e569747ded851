// What Python calls: ops/native/rms_norm/functions.yaml; the formulas: docs/reference/ops.md.
#include "norm_binding.h"

namespace dsbuild::ops {
namespace {

tvm::ffi::Any rms_norm_forward(Arguments& arguments) {
  return norm_forward(arguments, false);
}

tvm::ffi::Any rms_norm_backward(Arguments& arguments) {
  return norm_backward(arguments, false);
}

tvm::ffi::Any rms_norm_scratch(Arguments& arguments) {
  return norm_scratch(arguments);
}

}  // namespace
}  // namespace dsbuild::ops

DSBUILD_EXPORT(rms_norm_forward, dsbuild::ops::rms_norm_forward)
DSBUILD_EXPORT(rms_norm_backward, dsbuild::ops::rms_norm_backward)
DSBUILD_EXPORT(rms_norm_scratch, dsbuild::ops::rms_norm_scratch)
