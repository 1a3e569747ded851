// The words of a command line, or of a part of one.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

using Args = std::vector<std::string>;

}  // namespace dsbuild
