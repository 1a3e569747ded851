// What a C++ compiler sees of a source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/system.h"

namespace dsbuild {

// The text that the preprocessor makes for a whole compile command, with "-c SOURCE" and the words of a
// depfile in it, which is written; with comments, for a warning may go by one. The name of a header that is
// included by force is left out of it: each op has its own. nullopt where the compiler fails, or the text is
// 64 MiB or longer. Runs in the current folder.
std::optional<std::string> preprocessed_text(const std::vector<std::string>& compile, System& system);

}  // namespace dsbuild
