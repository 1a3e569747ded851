// ROCm, as DeepSpeed's op_builder asks for it.
#pragma once

#include <optional>

#include "requirements/torch.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

// Major and minor of the ROCm that this toolkit is of: its .info/version, else what a torch for ROCm has in
// its own version (+rocm6.2), else rocm_version.h (installed_rocm_version of op_builder/builder.py), else
// HIP's headers, whose version has the same two numbers. Empty: none says it.
Version find_rocm_version(const Toolkit& toolkit, const std::optional<Torch>& torch, const FileReader& files);

// Lanes of a wavefront, where all of AMD's targets in the set have as many; else 0.
int common_wave_size(const ArchSet& archs);

}  // namespace dsbuild
