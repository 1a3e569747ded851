// Runs one whole command of a build: `dsbuild step run …`. Compiles take what was made before of the same.
#pragma once

#include <functional>

#include "slices/step_file.h"

namespace dsbuild {

// `output` is Ninja's; the command writes <output>.tmp and, where it compiles, the depfile <output>.d.
struct WholeStep {
  std::string output;
  Words command;
};

// A compile is known by its command, its tools and its source; what it read else, by the depfile that it
// wrote, and where it uses a precompiled header by what that was made of. A header is precompiled only where
// enough of its users (k_users_end) are not in the store; else it stays an empty file, and those few read the
// header itself, which makes the same objects. `run_tools` runs the command, and gives its exit code. Errors:
// those of reading and writing.
Result<int> run_whole_step(const WholeStep& step, System& system,
                           const std::function<Result<int>(const Words&)>& run_tools);

}  // namespace dsbuild
