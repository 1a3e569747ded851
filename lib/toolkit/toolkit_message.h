// The errors of choosing a toolkit, in words. Private to lib/toolkit.
#pragma once

#include <string>
#include <vector>

#include "toolkit/toolkit.h"

namespace dsbuild {

// "CUDA 13.0.88 (/usr/local/cuda-13.0)"
std::string toolkit_name(const Toolkit& toolkit);

// The versions that `dsbuild toolkits get` fetches and that target all of `needed`, the preferred one first.
std::vector<std::string> fetchable_versions(const ArchSet& needed);

Error no_toolkit_error(const Settings& settings, const Toolkits& toolkits, const ArchSet& needed);
// `demanded`: those that may be used; `can_drop`: something would be left without what they lack.
Error lacks_archs_error(const Settings& settings, const Toolkits& toolkits,
                        const std::vector<const Toolkit*>& demanded, const ArchSet& needed, bool can_drop);
Error no_host_compiler_error(const Toolkit& toolkit, const std::vector<HostCompiler>& compilers);

}  // namespace dsbuild
