#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace dsbuild {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // the library takes "i" for a type, and says "int"
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return text ? std::string(text.get()) : name;
}

}  // namespace dsbuild
