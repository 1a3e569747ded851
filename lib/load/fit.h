// Whether a library may be loaded here: said before it is opened, imported or given to a GPU, for what does
// not fit shows only at its first kernel else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/coverage.h"
#include "bundle/manifest.h"
#include "requirements/torch.h"
#include "toolkit/visible_gpus.h"

namespace dsbuild {

// Where an op is to run.
struct LoadMachine {
  VisibleGpus gpus;
  std::string cpu_features;  // Host::cpu_features
};

// The Python packages that an op is loaded with.
struct LoadPackages {
  std::optional<Torch> torch;  // nullopt: there is none
  Version tvm_ffi;             // empty: there is none, or who loads is no Python program
};
// With the Python of the settings, which is asked once and remembered.
LoadPackages find_load_packages(const ManifestOp& op, const Manifest& manifest, const Interpreter& python);

struct Fit {
  std::vector<Coverage> coverage;  // of each visible GPU; empty for host code
  std::string misfit;  // why not, in words: "fused_adam has no image for 9.0 (it has 8.0)"; "": it fits
};

// An op of a bundle. Each of its modules (translation units with device code) must run on each visible GPU:
// as machine code, or as PTX that the driver's CUDA is not too old for (PTX of CUDA 13.5 needs a driver of
// CUDA 13.5; "CUDA Compatibility", NVIDIA). Where no GPU is visible none is asked for. The CPU must have what
// the op is compiled for. A Python module needs the torch that it was compiled against (major.minor, CUDA or
// ROCm, C++ ABI) and that Python; another op a tvm-ffi that is not older than its own (minor version).
// Asked about are the GPUs of the vendor that the op is built for; where others alone are visible, it is not
// for this machine.
Fit fit_of(const ManifestOp& op, const Manifest& manifest, const LoadMachine& machine,
           const std::optional<LoadPackages>& packages);

struct FittingOp {
  const ManifestOp* op;
  Fit fit;
};
// Of the entries of one op, each for another vendor's GPUs, the first that fits; else the first for GPUs that
// are here, else the first. Not of none.
FittingOp fitting_op(const std::vector<const ManifestOp*>& entries, const Manifest& manifest,
                     const LoadMachine& machine, const std::optional<Interpreter>& python);

}  // namespace dsbuild
