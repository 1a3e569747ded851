// Decides whether a library can run on this machine, before it is opened or imported. Otherwise a misfit
// would show only at the first kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/coverage.h"
#include "bundle/manifest.h"
#include "requirements/torch.h"
#include "toolkit/visible_gpus.h"

namespace dsbuild {

// The machine on which an op will run.
struct LoadMachine {
  VisibleGpus gpus;
  std::string cpu_features;  // Host::cpu_features
};

// The Python packages that an op is loaded with.
struct LoadPackages {
  std::optional<Torch> torch;  // nullopt: there is none
  Version tvm_ffi;             // empty: there is none, or the caller is no Python program
};
// Asks the Python of the settings once, and stores the answer.
LoadPackages find_load_packages(const ManifestOp& op, const Manifest& manifest, const Interpreter& python);

struct Fit {
  std::vector<Coverage> coverage;  // one for each visible GPU; empty for host code
  std::string misfit;  // why not, in words: "fused_adam has no image for 9.0 (it has 8.0)"; "": it fits
};

// Checks an op of a bundle. Each of its modules (translation units with device code) must run on each visible
// GPU: as machine code, or as PTX that the driver's CUDA is not too old for (PTX of CUDA 13.5 needs a driver
// of CUDA 13.5; "CUDA Compatibility", NVIDIA). If no GPU is visible, the GPU check is skipped. The CPU must
// have the features that the op is compiled for. A Python module needs the torch that it was compiled against
// (major.minor, CUDA or ROCm, C++ ABI) and that Python; another op a tvm-ffi that is not older than its own
// (minor version). Only GPUs of the op's vendor count. If only GPUs of other vendors are visible, the op does
// not fit.
Fit fit_of(const ManifestOp& op, const Manifest& manifest, const LoadMachine& machine,
           const std::optional<LoadPackages>& packages);

struct FittingOp {
  const ManifestOp* op;
  Fit fit;
};
// Chooses among an op's entries, which are for different vendors' GPUs: the first that fits, else the first
// for GPUs of this machine, else the first. `entries` must not be empty.
FittingOp fitting_op(const std::vector<const ManifestOp*>& entries, const Manifest& manifest,
                     const LoadMachine& machine, const std::optional<Interpreter>& python);

}  // namespace dsbuild
