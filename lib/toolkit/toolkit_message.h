// The errors of choose_toolkit. Private to lib/toolkit.
#pragma once

#include <string>
#include <vector>

#include "toolkit/toolkit.h"

namespace dsbuild {

// "CUDA 13.0.88 (/usr/local/cuda-13.0)"
std::string toolkit_name(const Toolkit& toolkit);

// The parts of a ToolkitDemand for messages: the targets and torch_cuda.
struct ToolkitNeed {
  const CompilerFamily* family = &k_nvcc_family;
  ArchSet archs;
  Version torch_cuda;
  bool goes_with(const Toolkit& toolkit) const;  // with torch's CUDA, or there is none to go with
};

Error no_toolkit_error(const Settings& settings, const Toolkits& toolkits, const ToolkitNeed& need);
// `demanded`: those that may be used; `can_drop`: something would be left without what they lack.
Error lacks_archs_error(const Settings& settings, const Toolkits& toolkits,
                        const std::vector<const Toolkit*>& demanded, const ToolkitNeed& need, bool can_drop);
Error no_host_compiler_error(const Toolkit& toolkit, const std::vector<HostCompiler>& compilers);

}  // namespace dsbuild
