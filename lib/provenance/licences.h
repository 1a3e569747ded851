// Licences of what libraries hold besides their own code, and how an expression of SPDX's names them all.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// The EULA of the CUDA Toolkit, which is not in SPDX's list. NVIDIA's own wheels name it so.
inline constexpr const char *k_nvidia_licence = "LicenseRef-NVIDIA-Proprietary",
                            *k_nvidia_licence_url = "https://docs.nvidia.com/cuda/eula/";

// That of what is under `own` and holds parts under each of the others. "" where `own` is: nobody knows that
// of the whole then. Others that are "" or named already add nothing.
std::string joined_licences(std::string own, const std::vector<std::string>& others);

}  // namespace dsbuild
