// The words of a compile command that a preprocessor alone reads.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// The command for text that is preprocessed already: without macros, include folders and headers that are
// included by force.
std::vector<std::string> words_behind_preprocessor(const std::vector<std::string>& command);

}  // namespace dsbuild
