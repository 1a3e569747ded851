// The grammar of --arch and TORCH_CUDA_ARCH_LIST (docs/arch.md).
//   list    = [entry] { separator [entry] }      separator = one or more of ; , blank tab newline
//   entry   = number [suffix] [kind] | ("sm_" | "compute_") digits [suffix] | name [kind]
//           | "native" | "all" | "all-major"
//   number  = "8.0" | "80" | "120"
//   suffix  = "a" (from 9.0) | "f" (from 10.0)
//   kind    = "+PTX" | "-real" | "-virtual"      (none: real only)
//   name    = Kepler … Rubin and X+Tegra, as torch's _get_cuda_arch_flags expands them; a name takes
//             a kind only if its expansion has none
// Case-insensitive; empty entries are dropped; order and duplicates do not matter.
// Source: torch.utils.cpp_extension._get_cuda_arch_flags (2.15), DeepSpeed op_builder (0.19), CMake's
// CUDA_ARCHITECTURES; accepted is the union of the three, save that a bare 80 is real only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arch/target.h"
#include "base/result.h"

namespace dsbuild {

// A parsed list, before the words that depend on a toolkit or a machine are resolved.
struct ArchRequest {
  ArchSet targets;
  bool all = false;         // every real arch of the toolkit, PTX of the highest X.0 (nvcc -arch=all)
  bool all_major = false;   // the X.0 ones and the lowest, the same PTX (nvcc -arch=all-major)
  bool native = false;      // the GPUs of this machine, PTX on the highest
  bool is_default = false;  // nothing was asked for: the committed table of the toolkit's version
  bool explicit_only() const { return !all && !all_major && !native && !is_default; }
  bool operator==(const ArchRequest&) const = default;
};

// Pure. `where` is "--arch" or "TORCH_CUDA_ARCH_LIST". At most 64 KiB and 1,024 entries.
// Errors (exit 2): `unknown_arch` names the word, its place ("entry 2, character 5") and the nearest
// valid word; `empty_arch_list` for no entry at all; `arch_list_too_long`.
Result<ArchRequest> parse_arch_list(std::string_view text, const std::string& where);

// The targets of a request. `toolkit_targets`: all that nvcc's --help allows (with a and f);
// `gpus`: visible GPUs, for native (exit 3 `no_gpu` when empty). `toolkit_version_major_minor`:
// picks the row of the default table (major*100+minor, e.g. 1300, 1108).
Result<ArchSet> resolve_arch_request(const ArchRequest& request, const ArchSet& toolkit_targets,
                                     int toolkit_version, const std::vector<ComputeCapability>& gpus);

// The committed default list for a toolkit version (major*100+minor).
ArchSet default_archs(int toolkit_version);

// What is known of each CC: name and the CUDA versions whose nvcc can target it. One row each.
constexpr int k_current = 9999;
struct ArchRow {
  ComputeCapability cc;
  const char* architecture;  // "Volta"
  int first_cuda;            // 900 for CUDA 9.0
  int last_cuda;             // last that targets it, e.g. 1209; k_current while nvcc still does
  int first_cuda_a = 0;      // first that knows its `a` target; 0: there is none
  int first_cuda_f = 0;      // first that knows its `f` target; 0: there is none

  int first_for(Suffix suffix) const;  // 0: there is no such target
};
const std::vector<ArchRow>& arch_table();
const ArchRow* find_arch(ComputeCapability cc);  // nullptr if it has no row
// Every target, real and PTX, that nvcc of this version (major*100+minor) knows by the table.
ArchSet targets_of_cuda(int version);
// "CUDA 11.1 to 12.9", "CUDA 12.8 and newer" for all targets together, or "" when no version targets all
// of them.
std::string cuda_versions_for(const ArchSet& set);

}  // namespace dsbuild
