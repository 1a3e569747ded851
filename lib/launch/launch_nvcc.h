// `dsbuild nvcc`: in front of nvcc, for build systems that call it.
#pragma once

#include "launch/kept_call.h"

namespace dsbuild {

// `words`: behind "dsbuild nvcc", or all that a program called nvcc was given. Compiles of one CUDA source to
// an object are taken from the cache, or made as slices, side by side and with those of other calls of this
// node below its memory; what is not to be sliced is kept as a whole where that is known to be right.
// Everything else nvcc itself does, in our place and with our process id: another phase, what is not
// understood, a failure, whose messages are then its own. The value is the exit code. Errors: exit 3
// `no_toolkit`, `cannot_start`.
Result<int> launch_nvcc(const Words& words, System& system, const Path& data_dir);

}  // namespace dsbuild
