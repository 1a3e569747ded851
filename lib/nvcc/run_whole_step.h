// Runs one whole command of a build: `dsbuild action run …`. Compiles take what was made before of the same.
#pragma once

#include <functional>

#include "action/action_run.h"
#include "base/build_layout.h"
#include "nvcc/run_step.h"

namespace dsbuild {

// The command writes <output>.tmp, and the depfile <output>.d; <output>.rsp lists what a link takes.
struct WholeStep {
  std::string output;
  Words command;
  bool is_known_by_text = false;  // a C++ source that another op compiles alike but for macros
};

// A compile is known by its command, its tools and what it read, a shared source also by its preprocessed
// text; where it uses a precompiled header, by what that was made of. A header is precompiled only where
// enough of its users (k_users_end) are not in the cache; else it stays an empty file, and those few read the
// header itself, which makes the same objects. The output is written only where its bytes change. What a tool
// said is printed, also when its output is taken from the cache. Errors: those of reading and writing.
struct WholeTools {
  std::function<Result<int>(const Words&, std::string& said)>
      run;  // gives the exit code, and what it printed
  std::function<void(std::string_view)> print;
};
Result<StepEnd> run_whole_step(const WholeStep& step, ActionRun& action, System& system,
                               const WholeTools& tools);

}  // namespace dsbuild
