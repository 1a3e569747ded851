// The tools that a call of nvcc's stands for: the nvcc that is meant, its host compiler, and what they see of
// the caller's environment.
#pragma once

#include "driver/slicing.h"
#include "wrapper/nvcc_call.h"

namespace dsbuild {

// Why nvcc itself has to run a call: exit 3 `cannot_slice`.
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
  ToolText parts;           // what they are made of
  Environment environment;  // of the tools
  Environment looked_at,
      locale;  // what of the caller's they look at, in what language they speak: both are in keys
};

// `nvcc`: of CUDA's layout. Error: exit 3 `cannot_slice`, where it is a script or does not answer.
Result<CallTools> find_call_tools(const Path& nvcc, const NvccCall& call, Session& session);

}  // namespace dsbuild
