// The grammar of --arch and of the variables of torch (docs/reference/arch.md):
//   list    = [entry] { separator [entry] }      separator = one or more of ; , blank tab newline
//   entry   = "native" | "all" | "all-major" | an entry of a vendor's
// NVIDIA's:
//   entry   = number [suffix] [kind] | ("sm_" | "compute_") digits [suffix] | name [kind]
//   number  = "8.0" | "80" | "120"
//   suffix  = "a" (from 9.0) | "f" (from 10.0)
//   kind    = "+PTX" | "-real" | "-virtual"      (none: real only)
//   name    = Kepler … Rubin and X+Tegra, as torch's _get_cuda_arch_flags expands them; a name takes
//             a kind only if its expansion has none
// AMD's:
//   entry   = processor { ":" ("sramecc" | "xnack") ("+" | "-") }      processor = "gfx90a" |
//   "gfx9-4-generic" …
// Intel's, the last two standing for several:
//   entry   = ["intel_gpu_"] device | version | "spir64" | release | family
//   device  = "pvc" | "dg2-g10" …   version = "12.60.7"   release = "xe-hpg" …   family = "xe" …
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
// Each word means something at each vendor (Vendor::all_of and so on).
struct ArchRequest {
  ArchSet targets;   // of all vendors
  bool all = false;  // for NVIDIA: every real arch of the toolkit, PTX of the highest X.0 (nvcc -arch=all)
  bool all_major = false;   // the X.0 ones and the lowest, the same PTX (nvcc -arch=all-major)
  bool native = false;      // the GPUs of this machine, PTX on the highest
  bool is_default = false;  // no arch was requested: the default list for the toolkit's version
  bool explicit_only() const { return !all && !all_major && !native && !is_default; }
  bool operator==(const ArchRequest&) const = default;
};

// Pure. `where` is "--arch" or "TORCH_CUDA_ARCH_LIST". At most 64 KiB and 1,024 entries.
// Errors (exit 2): `unknown_arch` names the word, its place ("entry 2, character 5") and the nearest
// valid word; `conflicting_archs` names two that cannot be in one library, and why; `empty_arch_list` for no
// entry at all; `arch_list_too_long`.
Result<ArchRequest> parse_arch_list(std::string_view text, const std::string& where);

// The vendors that a list is for by itself: those of its targets, and for `native` those of the visible GPUs.
// Without either, the first vendor of the table (NVIDIA). In canonical order.
std::vector<const Vendor*> vendors_of(const ArchRequest& request, const std::vector<Target>& gpus);
// The part of a list that is for one vendor's GPUs: its targets, and the words.
ArchRequest request_of(const ArchRequest& request, const Vendor& vendor);

// The targets that `native` stands for, as each vendor chooses them for its GPUs.
ArchSet native_archs(const std::vector<Target>& gpus);

// The targets of a request for a toolkit, of the toolkit's vendor alone. `targets`: all that its compiler can
// target. `version`: the toolkit's, major * 100 + minor, which selects the vendor's default list. `gpus`: the
// visible ones, for `native`. Error: exit 3 `no_gpu` if none is the vendor's, unless others are visible and
// the list names targets of this vendor. Also `conflicting_archs`.
Result<ArchSet> resolve_arch_request(const ArchRequest& request, const Vendor& vendor, const ArchSet& targets,
                                     int version, const std::vector<Target>& gpus);

}  // namespace dsbuild
