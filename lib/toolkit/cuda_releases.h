// Whether what lies in one folder is one release of CUDA, whole. NVIDIA's packages of its parts (PyPI, conda)
// may be installed in different versions, which compile nothing together: ptxas refuses a newer cicc's PTX,
// cudafe++ an older one's options, CCCL another release's headers. Private to lib/toolkit.
#pragma once

#include "toolkit/toolkit.h"

namespace dsbuild {

// "" where all parts are there and those that tell a release tell that of nvcc, `toolkit.version`. Else what
// they are and what mends it: "its parts are of different releases: bin/nvcc 13.5, nvvm/bin/cicc 13.0; pip
// install 'nvidia-nvvm==13.5.*'". Programs tell it by the text that they print of themselves, headers by
// CUDART_VERSION, the rest by the names of what pip and conda write down of a package. A part that is not
// there counts only where packages make the folder: Debian has its parts elsewhere.
std::string why_no_whole_release(const Toolkit& toolkit, const FileReader& files, FactStore& facts);

}  // namespace dsbuild
