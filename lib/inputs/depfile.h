// Reads depfiles, in which compilers list for Make the files that they read. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// The files that a depfile's rules name after their target, each once, in order. Source of the quoting: gcc's
// libcpp/mkdeps.cc (`munge`), which clang, nvcc and GNU ld follow: "\ " and "\#" and "\:" stand for the
// character, "$$" for "$", and 2N+1 backslashes before a blank for N of them and the blank. Other backslashes
// are literal.
std::vector<std::string> files_in_depfile(std::string_view depfile);

// The same for a linker's --dependency-file, which has a line for each file. GNU ld does not quote names, lld
// quotes them as above. So a line counts as it is if such a file exists, else without the quoting.
std::vector<std::string> files_in_link_depfile(std::string_view depfile,
                                               const std::function<bool(const std::string&)>& exists);

// The same for --MD of GNU as. It also names files that as did not read: those in .file and line markers, and
// its temporary source. Leaves out names of files that do not exist.
std::vector<std::string> files_in_assembler_depfile(std::string_view depfile,
                                                    const std::function<bool(const std::string&)>& exists);

}  // namespace dsbuild
