// Finds the GPUs of a process that has initialised CUDA.
#pragma once

#include <string>

namespace dsbuild {

// The compute capabilities of the devices that CUDA shows to this process, each once: "9.0,8.0". "": CUDA is
// not initialised here, it was initialised before a fork, or there is no device. Neither loads nor
// initialises anything, and needs no context.
std::string gpus_of_initialised_cuda();

}  // namespace dsbuild
