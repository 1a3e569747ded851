// Preprocesses a C++ source, to look up a compile by its text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace dsbuild {

// The preprocessor's command for a whole compile command that has "-c SOURCE" and the words for a depfile. It
// also writes the depfile. The text keeps comments, because some warnings depend on them.
std::vector<std::string> preprocess_command(const std::vector<std::string>& compile);

// The text that it made. The name of a header that is included by force is left out of it: each op has its
// own. nullopt where the compiler failed, or the text is 64 MiB or longer.
std::optional<std::string> preprocessed_text(const std::vector<std::string>& compile,
                                             Result<ProcessResult> result);

}  // namespace dsbuild
