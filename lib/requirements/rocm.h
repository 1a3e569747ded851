// Properties of ROCm that DeepSpeed's op_builder uses.
#pragma once

#include <optional>

#include "requirements/torch.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

// Major and minor version of the toolkit's ROCm. Sources, in this order: its .info/version; the version of a
// torch for ROCm (+rocm6.2); rocm_version.h (as installed_rocm_version of op_builder/builder.py); HIP's
// headers, whose version has the same two numbers. Empty: unknown.
Version find_rocm_version(const Toolkit& toolkit, const std::optional<Torch>& torch, const FileReader& files);

// The lanes of a wavefront if all of AMD's targets in the set have the same number; else 0.
int common_wave_size(const ArchSet& archs);

}  // namespace dsbuild
