// NVIDIA's entries of an arch list. Private to lib/arch; the grammar is in arch/arch_list.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arch/nvidia.h"
#include "arch/vendor.h"

namespace dsbuild {

// Vendor::add_entry.
std::optional<std::string> add_nvidia_entry(std::string_view entry, ArchRequest& request);

// The nearest valid entry to an invalid one, or "" if none is near.
std::string nearest_nvidia_entry(std::string_view entry);

// Vendor::gpu_called, gpu_names.
std::optional<Target> nvidia_gpu_called(std::string_view product);
std::vector<ArchWord> nvidia_gpu_names();

namespace entry_grammar {

enum class Kind { none, plus_ptx, real_only, ptx_only };
struct KindWord {
  std::string_view text;  // the end of an entry, in lower case
  Kind kind;
};
inline constexpr KindWord k_kinds[] = {
    {"+ptx", Kind::plus_ptx}, {"-real", Kind::real_only}, {"-virtual", Kind::ptx_only}};

struct NameRow {
  const char* name;
  const char* expansion;
};
// Source: torch.utils.cpp_extension._get_cuda_arch_flags, 2.15.
inline constexpr NameRow k_names[] = {
    {"Kepler", "3.5+PTX"},
    {"Kepler+Tesla", "3.7"},
    {"Maxwell", "5.0;5.2+PTX"},
    {"Maxwell+Tegra", "5.3"},
    {"Pascal", "6.0;6.1+PTX"},
    {"Volta", "7.0+PTX"},
    {"Volta+Tegra", "7.2"},
    {"Turing", "7.5+PTX"},
    {"Ampere", "8.0;8.6+PTX"},
    {"Ampere+Tegra", "8.7"},
    {"Ada", "8.9+PTX"},
    {"Hopper", "9.0+PTX"},
    {"Blackwell", "10.0;10.3;12.0;12.1+PTX"},
    {"Blackwell+Tegra", "11.0"},
    {"Rubin", "10.7+PTX"},
};
inline constexpr std::string_view k_words[] = {"native", "all", "all-major"};

// Removes the kind from the end of `text` (lower case) and returns it.
Kind take_kind(std::string_view& text);
// Removes "sm_" or "compute_" from its start.
std::optional<CodeKind> take_prefix(std::string_view& text);

}  // namespace entry_grammar
}  // namespace dsbuild
