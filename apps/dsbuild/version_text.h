// What `dsbuild --version` answers.
#pragma once

#include <string>

namespace dsbuild {

// "dsbuild 0.3.0\n". With details (`-v`): then the commit, the compiler and the libraries of this program, a
// line each, as a fault report needs them.
std::string version_text(bool with_details);

}  // namespace dsbuild
