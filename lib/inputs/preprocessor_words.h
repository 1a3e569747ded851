// Removes the words of a compile command that only the preprocessor uses.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// The command for preprocessed text: without macros, include folders, -include and -imacros.
std::vector<std::string> words_behind_preprocessor(const std::vector<std::string>& command);

}  // namespace dsbuild
