// What a C++ compiler sees of a source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

// For a whole compile command, with "-c SOURCE" and the words of a depfile in it, which is written. With
// comments, for a warning may go by one.
std::vector<std::string> preprocess_command(const std::vector<std::string>& compile);

// The text that it made. The name of a header that is included by force is left out of it: each op has its
// own. nullopt where the compiler failed, or the text is 64 MiB or longer.
std::optional<std::string> preprocessed_text(const std::vector<std::string>& compile,
                                             Result<ProcessResult> result);

}  // namespace dsbuild
