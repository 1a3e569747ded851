// BuildPlan -> compile_commands.json, for clangd, clang-tidy and the like
// (https://clang.llvm.org/docs/JSONCompilationDatabase.html): the plain command of each source, with the
// user's own paths. For CUDA files, nvcc's flags are translated to clang's (clang_flags.h). Pure.
#pragma once

#include <string>

#include "plan/slice_edges.h"

namespace dsbuild {

struct CompileCommandsInput {
  const BuildPlan& plan;
  const std::vector<SlicedCommand>& sliced;  // the whole commands that slices of the plan replace
  Path folder;                               // of the build; absolute
  Path cuda_home;                            // "" : there is no CUDA file
};

std::string render_compile_commands(const CompileCommandsInput& input);

}  // namespace dsbuild
