// The text of `dsbuild --version`.
#pragma once

#include <string>

namespace dsbuild {

// "dsbuild 0.3.0\n". With details (`-v`), further lines name the commit, the compiler and the libraries of
// this program, for bug reports.
std::string version_text(bool with_details);

}  // namespace dsbuild
