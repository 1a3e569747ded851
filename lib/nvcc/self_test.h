// Whether slices make what nvcc makes, found out with a small file for each toolkit and host compiler.
#pragma once

#include <stop_token>

#include "nvcc/nvcc_commands.h"

namespace dsbuild {

// Compiles a .cu with functions, templates, constants and variables of inner linkage by the whole command
// `nvcc` (which names two archs or more and no source) and by slices of it, and compares byte for byte: the
// device images, the host's machine code, and the names that the objects export. Then by slices once more
// with lines moved, which must change no byte. `folder` is made, and removed afterwards. Slices run
// `commands`, the steps of that command, as `program` action slice. "" where all is the same, else what is
// not, in words; no command is started once it is told to stop. `roots`: those that the words name.
std::string slices_differ_by(const Args& nvcc, const NvccCommands& commands, const Roots& roots,
                             const Path& folder, const Path& program, System system,
                             const std::stop_token& stop = {});

}  // namespace dsbuild
