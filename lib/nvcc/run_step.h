// `dsbuild action slice …`: runs one sliced action of a build.
#pragma once

#include "exec/engine.h"
#include "nvcc/step_file.h"

namespace dsbuild {

// Paths are relative to the build folder, which is the current one. An output without its end is where all
// files of the translation unit lie: "obj/adam/adam.cu/adam". <unit>.module_id and <unit>.arch_list were
// written with the plan; the first is the module id, free of paths, the second the value of
// __CUDA_ARCH_LIST__.
struct SliceStep {
  Path step_file;
  std::string output;  // the first of the part's outputs
  std::string source;  // "pack/adam.cu"; "" for the host part
  Args gencodes;       // of this part, only for messages
};

// The preprocessed text, the commands and the tools make a key. Outputs of the same key stay as they are;
// else those of the cache are taken, which another op may have made; else the commands run, in a folder of
// their own. __CUDA_ARCH_LIST__ counts as read where a header or the source names it. A slice that fails ends
// with one plain nvcc command that does the same. Errors: those of reading and writing; `bad_elf`: a tool
// gave no ELF file.
Result<StepEnd> run_slice_step(const SliceStep& request, Engine& engine);

// The text before that command.
inline constexpr std::string_view k_nvcc_alone = "the same with nvcc alone: ";

}  // namespace dsbuild
