// Translates an op's CUDA sources to HIP with the installed torch's hipify: `dsbuild action hipify …`.
#pragma once

#include "exec/engine.h"

namespace dsbuild {

// Paths are relative to the build folder, which is the current one.
struct HipifyStep {
  std::string output;   // "hipify/adam.list": the digest and the path of each file of the tree
  std::string python;   // absolute
  std::string package;  // torch/utils/hipify, absolute
  std::vector<std::string> include_flags;  // "-Ipack/include"
  std::vector<std::string> sources;        // "pack/adam.cu"
};

// Makes the folder "hipify/adam" next to the list. It has the sources as HIP under their own names, and the
// project's files that they include. hipify chooses the names of its translations of the latter. A compile
// uses this tree instead of the source root, to which nothing is written. The step looks for all files that
// the texts name, in every folder where a compiler may look. So hipify sees neither more nor less than in the
// whole source root. The step writes files whose bytes change, and removes those of an older tree. The tree's
// key in the cache depends on the files that were read. Errors: those of reading and writing.
Result<StepEnd> run_hipify_step(const HipifyStep& step, Engine& engine);

}  // namespace dsbuild
