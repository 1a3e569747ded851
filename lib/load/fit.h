// Whether a library may be loaded here: said before it is opened, imported or given to a GPU, for what does
// not fit shows only at its first kernel else.
#pragma once

#include <string>
#include <vector>

#include "arch/coverage.h"
#include "bundle/manifest.h"
#include "toolkit/visible_gpus.h"

namespace dsbuild {

// Where an op is to run.
struct LoadMachine {
  VisibleGpus gpus;
  std::string cpu_features;  // Host::cpu_features
};

struct Fit {
  std::vector<Coverage> coverage;  // of each visible GPU; empty for host code
  std::string misfit;  // why not, in words: "fused_adam has no image for 9.0 (it has 8.0)"; "": it fits
};

// An op of a bundle. Each of its modules (translation units with device code) must run on each visible GPU:
// as machine code, or as PTX that the driver's CUDA is not too old for (PTX of CUDA 13.5 needs a driver of
// CUDA 13.5; "CUDA Compatibility", NVIDIA). Where no GPU is visible none is asked for. The CPU must have what
// the op is compiled for.
Fit fit_of(const ManifestOp& op, const Manifest& manifest, const LoadMachine& machine);

}  // namespace dsbuild
