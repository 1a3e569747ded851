// Finds the tools of an nvcc call: nvcc, its host compiler, and the part of the caller's environment that
// they see.
#pragma once

#include "driver/slicing.h"
#include "wrapper/nvcc_call.h"

namespace dsbuild {

// The error exit 3 `cannot_slice`: the reason why nvcc itself has to run a call.
tl::unexpected<Error> left_to_nvcc(const std::string& where, const std::string& why);

// The nvcc of a command line, and the words after it.
struct NamedNvcc {
  Path program;  // absolute
  Args words;
};

// `words`: those after "dsbuild nvcc". The first may be nvcc's path, as launchers are called. Else nvcc is
// the first of these: the program that DSBUILD_NVCC names, that of CUDA_HOME or CUDA_PATH, the first nvcc on
// PATH that is not this program, /usr/local/cuda's. Error: exit 3 `no_toolkit`.
Result<NamedNvcc> find_nvcc(const Args& words, const System& system);

// The words that nvcc reads: NVCC_PREPEND_FLAGS, those of the command, NVCC_APPEND_FLAGS.
Args with_flags_of_environment(const Args& words, const Environment& environment);

struct CallTools {
  Toolkit toolkit;
  Args nvcc;                // with its host compiler named
  ToolText parts;           // their parts
  Environment environment;  // of the tools
  Environment looked_at,
      locale;  // the caller's variables that they read, and those of their language; both are in keys
};

// `nvcc` must lie in a toolkit with CUDA's layout. Error: exit 3 `cannot_slice` if it is a script or does not
// answer.
Result<CallTools> find_call_tools(const Path& nvcc, const NvccCall& call, Session& session);

}  // namespace dsbuild
