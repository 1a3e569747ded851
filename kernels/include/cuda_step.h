// What the binding of a GPU optimiser does around its launch.
#pragma once

#include "cuda_call.h"
#include "step_types.h"

namespace dsbuild::ops {

// launch(stream) on the tensors' device and the caller's stream there.
template <class Launch>
void run_step(const char* function, const StepTensors& t, const Launch& launch) {
  const int device = t.params[0].view.device().device_id;
  const DeviceScope scope(function, device);
  check_cuda(function, launch(current_stream(device)), device);
}

}  // namespace dsbuild::ops
