#include "toolkit/family.h"

namespace dsbuild {

// A new family is its files and one line here.
const std::vector<const CompilerFamily*>& compiler_families() {
  static const std::vector<const CompilerFamily*> table = {&k_nvcc_family};
  return table;
}

Path Toolkit::compiler() const {
  return home / family->compiler;
}

const Vendor& Toolkit::vendor() const {
  return family->vendor();
}

std::string Toolkit::name() const {
  return family->name + (" " + version.text());
}

std::string Toolkit::short_name() const {
  return family->name + (" " + version.short_text());
}

}  // namespace dsbuild
