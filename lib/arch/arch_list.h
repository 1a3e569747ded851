// The grammar of --arch and TORCH_CUDA_ARCH_LIST (docs/arch.md). An entry is one of a vendor's; NVIDIA's:
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

// What `native` stands for: of each vendor's GPUs what that vendor makes of them.
ArchSet native_archs(const std::vector<Target>& gpus);

// The targets of a request to a toolkit. `targets`: all that its compiler can target, all of one vendor's;
// `version`: its own, major * 100 + minor, which picks the vendor's default list; `gpus`: those that are
// visible, for native (exit 3 `no_gpu` when empty).
Result<ArchSet> resolve_arch_request(const ArchRequest& request, const Vendor& vendor, const ArchSet& targets,
                                     int version, const std::vector<Target>& gpus);

}  // namespace dsbuild
