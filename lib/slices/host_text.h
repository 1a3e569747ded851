// The host's C++ as cudafe++ writes it. Pure.
#pragma once

#include <string>

namespace dsbuild {

// cudafe++ keeps the bodies of kernels between `#if 0` and `#endif`: they become blank lines, so that the
// host's code is the same after an edit of device code that leaves its lines where they are.
std::string blank_disabled_code(std::string text);

}  // namespace dsbuild
