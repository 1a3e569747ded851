// Device targets of any vendor, and ordered sets of them. Only the vendor knows the meaning of its targets
// and which GPUs run them (arch/vendor.h). Code that plans, shares, writes and compares targets does not.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

class Vendor;

// One image to build: a value of its vendor. The order (vendor, code) is the canonical order everywhere.
struct Target {
  const Vendor* vendor;  // never null; there is one object of each
  uint64_t code;         // its meaning is the vendor's; its order is that of the vendor's targets

  bool operator==(const Target&) const = default;
  std::strong_ordering operator<=>(const Target& other) const;

  std::string name() const;        // "sm_90a", "compute_80": the name for compilers and in build.ninja
  std::string text() const;        // "9.0a", "8.0-virtual": the word for --arch, which parse_target parses
  std::string flag() const;        // the compiler's flag for it: "-gencode=arch=compute_90a,code=sm_90a"
  bool is_virtual() const;         // a driver compiles it at its load, as PTX; false: machine code
  std::string image_kind() const;  // how it is stored: "elf", "ptx"

  Target machine() const;  // 9.0a-virtual -> 9.0a
  Target plain() const;    // without the suffix: 9.0a-virtual -> 9.0-virtual
  // The arch, which names GPUs and which bounds compare: 9.0a-virtual -> 9.0.
  Target base() const { return plain().machine(); }
  // Whether this, as a pattern, also matches `other`: gfx90a matches gfx90a:xnack+, 9.0 only itself.
  bool stands_for(const Target& other) const;
  Target gpu() const;  // the GPU that it names in a list of GPUs: 9.0a-virtual -> 9.0
};

// "sm_90a", "compute_80" -> Target; nullopt for anything else ("lto_80", "sm_9", "all").
std::optional<Target> parse_target_name(std::string_view name);
// "9.0a", "8.0-virtual" -> Target; nullopt for anything else ("90", "8.0+PTX", "Ampere").
std::optional<Target> parse_target(std::string_view text);

using ArchSet = std::set<Target>;

ArchSet intersection(const ArchSet& a, const ArchSet& b);
ArchSet difference(const ArchSet& a, const ArchSet& b);
ArchSet union_of(const ArchSet& a, const ArchSet& b);
ArchSet targets_of(const ArchSet& set, const Vendor& vendor);
std::vector<const Vendor*> vendors_of(const ArchSet& set);  // in canonical order

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

// How code for `target` runs on a GPU whose arch is `gpu`, apart from driver versions. The best way first;
// by_generic: code for a group of GPUs that includes this one.
enum class Runs { natively, by_generic, by_driver, not_at_all };
Runs runs_on(const Target& target, const Target& gpu);
// The best way among the targets of the set.
Runs runs_on(const ArchSet& set, const Target& gpu);

}  // namespace dsbuild
