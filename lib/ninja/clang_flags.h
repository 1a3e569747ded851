// Flags of nvcc and gcc in clang's words.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// Leaves out flags that clang lacks, and renames those that it calls otherwise (the table in
// clang_flags.cpp). Flags that nvcc passes on to the host compiler stand for themselves. All others stay as
// they are.
std::vector<std::string> clang_flags(const std::vector<std::string>& flags);

}  // namespace dsbuild
