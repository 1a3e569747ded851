// Flags of nvcc and gcc in clang's words.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

// What clang lacks is left out, what it calls otherwise is renamed (the table in clang_flags.cpp), what nvcc
// passes on to the host compiler stands for itself; all else stays as it is.
std::vector<std::string> clang_flags(const std::vector<std::string>& flags);

}  // namespace dsbuild
