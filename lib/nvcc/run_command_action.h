// `dsbuild action run …`: runs one whole command of a build.
#pragma once

#include "base/build_layout.h"
#include "exec/engine.h"
#include "nvcc/nvcc_commands.h"

namespace dsbuild {

// The command writes <output>.tmp, and the depfile <output>.d; <output>.rsp lists the inputs of a link.
struct CommandAction {
  std::string output;
  Args command;
  bool is_known_by_text = false;  // a second op compiles the C++ source with only other macros
};

// A compile or a link is looked up by its command, its tools and what it read, a shared source also by its
// preprocessed text; where it uses a precompiled header, by what that was made of. A header is precompiled
// only where enough of its users (k_users_end) are not in the cache; else it stays an empty file, and those
// few read the header itself, which makes the same objects. Errors: those of reading and writing.
Result<StepEnd> run_command_action(const CommandAction& step, Engine& engine);

}  // namespace dsbuild
