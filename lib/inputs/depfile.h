// What a compiler says that it read: a depfile for Make. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// The files that the rules of a depfile name behind their target, each once, in order. Source of the quoting: gcc's
// libcpp/mkdeps.cc (`munge`), which clang, nvcc and GNU ld follow: "\ " and "\#" and "\:" stand for the character,
// "$$" for "$", and 2N+1 backslashes before a blank for N of them and the blank. Other backslashes are themselves.
std::vector<std::string> files_in_depfile(std::string_view depfile);

}  // namespace dsbuild
