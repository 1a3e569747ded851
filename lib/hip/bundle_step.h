// Joins the device images of one HIP source: `dsbuild action bundle …`.
#pragma once

#include "binary/offload_bundle.h"
#include "exec/engine.h"

namespace dsbuild {

// Paths are relative to the build folder, which is the current one.
struct BundleStep {
  std::string output;  // the object
  std::string host;    // the object of the host's code, compiled without images: it refers to the bundle
  std::vector<std::string> images;
  std::vector<std::string> entries;  // names of the bundle's entries: the host's, then one for each image
  std::vector<std::string> clang;    // the first words of its command
};

// Puts the bundle into section .hip_fatbin of the output, where clang's whole command has it. The bundle gets
// the symbol by which the host's object refers to it, because clang computes that name from -cuid in its own
// way. If the host's object refers to none, as without any kernel, the bundle has no symbol. Errors: those of
// reading and writing.
Result<StepEnd> run_bundle_step(const BundleStep& step, Engine& engine);

}  // namespace dsbuild
