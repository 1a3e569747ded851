// Finds configuration files that a compiler reads by itself: gcc's specs, clang's *.cfg, and all files that
// these name. Private to lib/toolkit.
#pragma once

#include "toolkit/tool_answers.h"

namespace dsbuild {

bool is_of_clang(const std::vector<std::string>& said);

// Finds them in the compiler's output (-v, -###, -print-search-dirs): existing files and, for gcc, also
// absent files that it would read.
Paths configuration_files(const Path& program, const std::vector<std::string>& said, const FileReader& files);

// Folders where clang chooses among installations of gcc and CUDA: with another one there it may choose that.
Paths folders_of_choice(const std::vector<std::string>& said);

// Files of flags that a command line names: @FILE, -specs=FILE, nvcc's --options-file and the like, with all
// that these name; with -B the programs and specs that may be in that folder. `folder`: where the tools work.
Paths files_in_flags(const Args& flags, const Path& folder, const FileReader& files);

}  // namespace dsbuild
