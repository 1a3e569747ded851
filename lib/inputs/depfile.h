// What a compiler says that it read: a depfile for Make. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// The files that the rules of a depfile name after their target, each once, in order. Source of the quoting:
// gcc's libcpp/mkdeps.cc (`munge`), which clang, nvcc and GNU ld follow: "\ " and "\#" and "\:" stand for the
// character, "$$" for "$", and 2N+1 backslashes before a blank for N of them and the blank. Other backslashes
// are themselves.
std::vector<std::string> files_in_depfile(std::string_view depfile);

// The same of a linker's --dependency-file, which has a line for each file. GNU ld writes names as they are,
// lld quotes as above: of a line, what it says as it is counts where `exists` says so.
std::vector<std::string> files_in_link_depfile(std::string_view depfile,
                                               const std::function<bool(const std::string&)>& exists);

// The same of GNU as's --MD, which names more than was read: the names in .file and line markers, and its own
// temporary source. Names of files that do not exist are left out.
std::vector<std::string> files_in_assembler_depfile(std::string_view depfile,
                                                    const std::function<bool(const std::string&)>& exists);

}  // namespace dsbuild
