// The GPUs of a process that uses CUDA already.
#pragma once

#include <string>

namespace dsbuild {

// "9.0,8.0": the compute capabilities of the devices that CUDA shows to this process, each once. "": CUDA is
// not initialised here, or was in the process that forked this one, or there is no device. Neither loads nor
// initialises anything, and needs no context.
std::string gpus_of_initialised_cuda();

}  // namespace dsbuild
