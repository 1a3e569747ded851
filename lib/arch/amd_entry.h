// AMD's entries of an arch list. Private to lib/arch; the grammar is in arch/arch_list.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arch/amd.h"
#include "arch/vendor.h"

namespace dsbuild {

// Vendor::add_entry, resembles.
std::optional<std::string> add_amd_entry(std::string_view entry, ArchRequest& request);
bool resembles_amd_entry(std::string_view entry);

// Vendor::gpu_called, gpu_names.
std::optional<Target> amd_gpu_called(std::string_view product);
std::vector<ArchWord> amd_gpu_names();

// Parses a target ID, with its features in any order. Error: the fault, or "" if its processor is unknown.
struct AmdId {
  std::optional<Target> target;
  std::string fault;
};
AmdId read_amd_id(std::string_view id);

}  // namespace dsbuild
