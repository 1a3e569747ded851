// What the binding of a SYCL optimiser does around its launch.
#pragma once

#include <tvm/ffi/extra/c_env_api.h>

#include <stdexcept>

#include "step_types.h"
#include "sycl_queue.h"

namespace dsbuild::ops {

// launch(place) on the tensors' device and the caller's queue there; std::runtime_error is what it throws.
template <class Launch>
void run_step(const char* function, const StepTensors& t, const Launch& launch) {
  const int device = t.params[0].view.device().device_id;
  try {
    launch(SyclPlace{TVMFFIEnvGetStream(kDLOneAPI, device), device});
  } catch (const std::runtime_error& error) {
    TVM_FFI_THROW(RuntimeError) << function << ": SYCL error on oneapi:" << device << ": " << error.what();
  }
}

}  // namespace dsbuild::ops
