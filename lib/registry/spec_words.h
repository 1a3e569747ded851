// Rules for the words of a spec, one per kind of word: "" if allowed, else the reason, worded to follow
// "'<word>' ". Private to this stage.
#pragma once

#include <string>

namespace dsbuild {

std::string refuse_op_name(const std::string& word);      // fused_adam
std::string refuse_build_var(const std::string& word);    // DS_BUILD_FUSED_ADAM
std::string refuse_identifier(const std::string& word);   // C's
std::string refuse_module(const std::string& word);       // identifiers joined by dots
std::string refuse_library(const std::string& word);      // aio: the word after -l
std::string refuse_command(const std::string& word);      // ninja: a name to look up on PATH
std::string refuse_truth(const std::string& word);        // true, false
std::string refuse_cpu_feature(const std::string& word);  // avx2
// A value after -DNAME=. nvcc passes arguments on through a shell, so only values are allowed that nvcc
// leaves unchanged (tried with CUDA 11.8, 13.0 and 13.5).
std::string refuse_define_value(const std::string& word);
// Paths are relative to the source root and stay inside it by their text alone (links are checked where
// the file is looked for).
std::string refuse_path(const std::string& path);
// The same; "." is the source root itself.
std::string refuse_include_dir(const std::string& path);
// A path that is relative to a folder outside of the pack, or is absolute.
std::string refuse_folder(const std::string& path);
std::string refuse_folder_base(const std::string& word);      // packages, python
std::string refuse_folder_language(const std::string& word);  // cxx, nvcc
std::string refuse_glob(const std::string& glob);             // a path that may also hold *, ? and parts **

}  // namespace dsbuild
