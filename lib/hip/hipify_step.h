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

// The tree beside the list, "hipify/adam", has the sources under their own names as HIP, the project's files
// that they include, and what hipify made of these under names of its own: a compile takes the tree in the
// place of the source root. What hipify reads is looked for here: all files that the texts name, in every
// folder where a compiler may look; so it sees neither more nor less than in the whole source root, which
// nothing is written to. Files are written where their bytes change; those of an older tree go. The cache has
// the tree by what was read. Errors: those of reading and writing.
Result<StepEnd> run_hipify_step(const HipifyStep& step, Engine& engine);

}  // namespace dsbuild
