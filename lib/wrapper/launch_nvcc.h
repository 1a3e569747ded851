// `dsbuild nvcc`: replaces nvcc in other build systems, and caches its compiles.
#pragma once

#include "wrapper/cached_compile.h"

namespace dsbuild {

// `words`: those after "dsbuild nvcc", or all arguments of a program called nvcc. A compile of one CUDA
// source to an object is taken from the cache, or made as slices. Slices of all calls on this node run at the
// same time, within its memory. A compile that cannot be sliced is cached as a whole, if that is known to be
// correct. nvcc itself does everything else, in our place and with our process id: other phases, calls that
// are not understood, and failures, whose messages are then nvcc's own. The value is the exit code. Errors:
// exit 3 `no_toolkit`, `cannot_start`.
Result<int> launch_nvcc(const Args& words, System& system, const Path& data_dir);

}  // namespace dsbuild
