#include <algorithm>

#include "toolkit/family.h"

namespace dsbuild {

// A new family is its files and one line here.
const std::vector<const CompilerFamily*>& compiler_families() {
  static const std::vector<const CompilerFamily*> table = {&k_nvcc_family, &k_hip_family, &k_icpx_family};
  return table;
}

const CompilerFamily& family_for(const Vendor& vendor) {
  for (const CompilerFamily* family : compiler_families())
    if (&family->vendor() == &vendor) return *family;
  return k_nvcc_family;
}

bool demands_home(const CompilerFamily& family, const Settings& settings) {
  return !(settings.*family.home).value.empty();
}

bool is_preference(const CompilerFamily& family, const std::string& origin) {
  return std::count(family.home_variables.begin(), family.home_variables.end(), origin) > 0;
}

Path Toolkit::compiler() const {
  return home / (other_compiler.empty() ? family->compiler : other_compiler);
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
