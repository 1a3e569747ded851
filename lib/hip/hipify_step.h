// Makes HIP of an op's CUDA sources, by the hipify of the torch that is installed: `dsbuild action hipify …`.
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

// The tree, "hipify/adam", lies next to the list. It has the sources as HIP under their own names, and the
// project's files that they include. hipify's translations of these have names of hipify's own. A compile
// takes the tree in the place of the source root, to which nothing is written. The step looks for all files
// that the texts name, in every folder where a compiler may look. So hipify sees neither more nor less than
// in the whole source root. Files are written where their bytes change; those of an older tree go. The cache
// knows the tree by the files that were read. Errors: those of reading and writing.
Result<StepEnd> run_hipify_step(const HipifyStep& step, Engine& engine);

}  // namespace dsbuild
