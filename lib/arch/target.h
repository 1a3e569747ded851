// Device targets and ordered sets of them.
// Source: CUDA C++ Programming Guide (compute capability, binary and PTX compatibility,
// architecture- and family-specific targets) and nvcc --help (allowed values of -arch and -code).
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

// Compute capability (CC): 9.0 of an H100.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
  std::string text() const;  // "9.0"
};

// none: runs on this CC and what is compatible with it; a: this CC alone, with all its features;
// f: this CC's family.
enum class Suffix { none, a, f };
// real: machine code (cubin) `sm_90`; ptx: virtual code `compute_90`.
enum class CodeKind { real, ptx };

// One image to build. The order (major, minor, suffix, kind) is the canonical order everywhere.
struct Target {
  ComputeCapability cc;
  Suffix suffix = Suffix::none;
  CodeKind kind = CodeKind::real;
  auto operator<=>(const Target&) const = default;

  std::string name() const;          // "sm_90a", "compute_80": nvcc's and build.ninja's word
  std::string virtual_name() const;  // "compute_90a": the virtual architecture it is made from
  std::string dotted() const;        // "9.0a", "8.0-virtual": accepted by --arch
  std::string gencode() const;       // "-gencode=arch=compute_90a,code=sm_90a"
};

// "sm_90a", "compute_80" -> Target; nullopt for anything else ("lto_80", "sm_9", "all").
std::optional<Target> parse_target_name(std::string_view name);

using ArchSet = std::set<Target>;

ArchSet intersection(const ArchSet& a, const ArchSet& b);
ArchSet difference(const ArchSet& a, const ArchSet& b);
ArchSet union_of(const ArchSet& a, const ArchSet& b);

// The form of every JSON `archs[]` and of the manifest, in canonical order: "7.0" for real, "8.0+PTX" for
// real and PTX, "8.0-virtual" for PTX alone.
std::vector<std::string> arch_strings(const ArchSet& set);
// "7.0 8.0+PTX"; "none" when empty.
std::string arch_text(const ArchSet& set);
// TORCH_CUDA_ARCH_LIST's form: "7.0;8.0+PTX". PTX alone is written "8.0-virtual", which torch does
// not know.
std::string arch_list(const ArchSet& set);
// "sm_70 sm_80 compute_80".
std::string target_names(const ArchSet& set);

// How code for `target` runs on a GPU of CC `gpu`, apart from driver versions.
enum class Runs { natively, by_ptx, not_at_all };
Runs runs_on(const Target& target, ComputeCapability gpu);
// The best way that any target of the set offers.
Runs runs_on(const ArchSet& set, ComputeCapability gpu);
// Whether code for an `f` target of `family` runs on `gpu` ("100f": 10.0, 10.3, 10.7; never 10.1 or 11.0).
bool same_family(ComputeCapability family, ComputeCapability gpu);

}  // namespace dsbuild
