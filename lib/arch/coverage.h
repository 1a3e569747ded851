// Tells which image a GPU runs from a set of device images (docs/reference/arch.md, "What runs where").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/target.h"
#include "base/result.h"

namespace dsbuild {

struct Coverage {
  Target gpu;  // its arch
  Runs runs = Runs::not_at_all;
  // The image that runs: the one for the nearest arch; if several are for that arch, the most specific one.
  std::optional<Target> by;
  size_t module = 0;  // for a library of several modules: the one that decides, from 0
  std::string text()
      const;  // "native (sm_80)", "by generic (gfx9-generic)", "by PTX (compute_80)", "will not run"
  bool operator==(const Coverage&) const = default;
};
Coverage coverage_of(const ArchSet& images, const Target& gpu);

// The coverage of a library of several modules. Each is a translation unit with images of its own. The
// library runs if each of them does, in the way of the worst one. Modules without images are host code and do
// not count.
Coverage coverage_of_modules(const std::vector<ArchSet>& modules, const Target& gpu);

// How many modules a GPU runs in which way, the best way first; those without images are left out.
struct ModuleCount {
  Runs runs = Runs::not_at_all;
  std::optional<Target> by;  // as in Coverage
  size_t modules = 0;
  std::string text()
      const;  // "443 modules by sm_86", "1 module by PTX of compute_80", "2 modules not at all"
  bool operator==(const ModuleCount&) const = default;
};
std::vector<ModuleCount> count_modules(const std::vector<ArchSet>& modules, const Target& gpu);
// "443 modules by sm_86, 1 by sm_89, 2 by PTX of compute_80, 1 not at all"
std::string text_of(const std::vector<ModuleCount>& counts);

// Parses a list of GPUs: product names ("H100") or archs ("8.6,9.0", "gfx90a:sramecc+:xnack-"). Suffixes and
// PTX do not matter. An AMD GPU without named features runs code for any features. `native` is `visible`.
// `all` is every GPU that dsbuild knows of the vendors that the list names, or of NVIDIA if it names none.
// Ascending, each once. Errors: those of parse_arch_list; `unknown_arch` for a target that is no GPU
// (`spir64`, a generic); exit 3 `no_gpu` for `native` without a visible GPU.
Result<std::vector<Target>> parse_gpus(std::string_view text, const std::string& where,
                                       const std::vector<Target>& visible);

}  // namespace dsbuild
