// The self-test of a toolkit and host compiler: compiles a small file by slices and by nvcc, and compares the
// outputs.
#pragma once

#include <stop_token>

#include "nvcc/nvcc_commands.h"

namespace dsbuild {

// Compiles a .cu with functions, templates, constants and variables of inner linkage by the whole command
// `nvcc` (which names two archs or more and no source) and by slices of it, and compares byte for byte: the
// device images, the host's machine code, and the names that the objects export. Then it compiles by slices
// again with lines moved, which must change no byte. Makes `folder`, and removes it afterwards. Slices run
// `commands`, the steps of that command, as `program` action slice. Returns "" if all is equal, else the
// difference in words. Starts no command after a stop request. `roots`: the roots in the commands.
std::string slices_differ_by(const Args& nvcc, const NvccCommands& commands, const Roots& roots,
                             const Path& folder, const Path& program, System system,
                             const std::stop_token& stop = {});

}  // namespace dsbuild
