// Removes line positions from preprocessed text for keys, and decides when outputs depend on them. After an
// edit that only moves lines, only the preprocessor should run.
#pragma once

#include "nvcc/nvcc_commands.h"

namespace dsbuild {

// For keys: the preprocessed text without blank lines and without the line numbers of its markers. What
// compilers make does not depend on them: __LINE__ is a number in the text already. The files that code is
// of, and which of them are the system's, stay. The text as it is where it names a builtin that reads
// positions, or source_location, which is made of one, anywhere. Raw strings keep their lines.
std::string without_positions(std::string_view text);
// Whether code in the text may use a column number as a value.
bool may_read_columns(std::string_view text);

// The text with names of the build folder's files, which are relative, put below `root` in its markers: cicc
// writes the absolute names of files into line information.
std::string with_files_below(const std::string& root, std::string_view text);

// How a step's outputs depend on positions.
enum class KeptPositions {
  none,
  device_lines,  // -lineinfo: the lines and columns that PTX names, and no more
  any            // or it is not known of what
};

// By the commands' words: line and debug information, coverage, sanitizers, and any option of code generation
// of which the opposite is not known; any host compiler but GCC.
KeptPositions kept_positions(const NvccCommands& commands);
bool may_keep_positions(const std::string& word_of_host_compiler);

}  // namespace dsbuild
