// Joins the device images of one HIP source: `dsbuild action bundle …`.
#pragma once

#include "binary/offload_bundle.h"
#include "exec/engine.h"

namespace dsbuild {

// Paths are relative to the build folder, which is the current one.
struct BundleStep {
  std::string output;  // the object
  std::string host;    // the object of the host's code, compiled without any image: it refers to the bundle
  std::vector<std::string> images;
  std::vector<std::string> entries;  // of the bundle: the host's, then one of each image
  std::vector<std::string> clang;    // its leading words
};

// The object has the bundle in .hip_fatbin, where clang's whole command puts it, under the name by which the
// host's object refers to it: clang makes that of -cuid in its own way. Where that refers to none,
// as without any kernel, it has no name. Errors: those of reading and writing.
Result<StepEnd> run_bundle_step(const BundleStep& step, Engine& engine);

}  // namespace dsbuild
