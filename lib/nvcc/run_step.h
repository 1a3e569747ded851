// Runs one sliced action of a build: `dsbuild action slice …`.
#pragma once

#include <functional>
#include <string_view>

#include "action/action_run.h"
#include "nvcc/step_file.h"
#include "sys/memory_gate.h"

namespace dsbuild {

// How one step of a build ended.
struct StepEnd {
  int code = 0;  // of the first command that failed, or 0
  MadeOf made_of = MadeOf::nothing_said;
};

// Paths are relative to the build folder, which is the current one. An output without its end is where all
// files of the translation unit lie: "obj/adam/adam.cu/adam". <unit>.module_id and <unit>.arch_list were
// written with the plan; the first is the module id, free of paths, the second the value of
// __CUDA_ARCH_LIST__.
struct SliceStep {
  Path step_file;
  std::string output;  // the first of the part's outputs
  std::string source;  // "pack/adam.cu"; "" for the host part
  Words gencodes;      // of this part, for people
};

// The preprocessed text, the commands and the tools make a key. Where it is that of the outputs that are
// there, they stay as they are; where it is in the cache, as of another op, they are taken; else the commands
// run, in a folder of their own, and outputs are written whole, and only where their bytes change. So what
// comes after a part runs only if there is something new. __CUDA_ARCH_LIST__ counts as read where a header or
// the source names it. What the tools say goes to `print`; a failing part ends with one plain nvcc command
// that does the same. Tools run in the turn. Errors: those of reading and writing; `bad_elf`: a tool gave no
// ELF file.
Result<StepEnd> run_slice_step(const SliceStep& request, ActionRun& action, MemoryTurn& turn, System& system,
                               const std::function<void(std::string_view)>& print);

// What stands before that command.
inline constexpr std::string_view k_nvcc_alone = "the same with nvcc alone: ";

}  // namespace dsbuild
