// Translates flags of nvcc and gcc to clang's.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// Removes flags that clang lacks, and renames those that have a different name in clang (table in
// clang_flags.cpp). Unwraps flags that nvcc passes on to the host compiler. All others stay.
std::vector<std::string> clang_flags(const std::vector<std::string>& flags);

}  // namespace dsbuild
