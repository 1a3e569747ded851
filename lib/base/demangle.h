// Names of C++ functions as they were written.
#pragma once

#include <string>

namespace dsbuild {

// "void plain<float>(float*)" for "_Z5plainIfEvPT_"; a name that is no mangled one stays as it is.
std::string demangled(const std::string& name);

}  // namespace dsbuild
