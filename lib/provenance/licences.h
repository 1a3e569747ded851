// Licences of third-party code in libraries, and SPDX expressions that join them.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// The EULA of the CUDA Toolkit, which is not in SPDX's list. The name is that of NVIDIA's own wheels.
inline constexpr const char *k_nvidia_licence = "LicenseRef-NVIDIA-Proprietary",
                            *k_nvidia_licence_url = "https://docs.nvidia.com/cuda/eula/";

// The licence of a file under `own` that contains parts under each of `others`. "" if `own` is "", because
// the whole is then unknown. Others that are "" or already in the expression add nothing.
std::string joined_licences(std::string own, const std::vector<std::string>& others);

}  // namespace dsbuild
