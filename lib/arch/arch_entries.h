// Private to lib/arch.
#pragma once

#include "arch/arch_list.h"

namespace dsbuild {

// Whether a list names archs, or GPUs, which also have product names.
enum class EntriesOf { archs, gpus };

// parse_arch_list without the check that one library can contain all targets.
Result<ArchRequest> parse_arch_entries(std::string_view text, const std::string& where,
                                       EntriesOf names = EntriesOf::archs);

}  // namespace dsbuild
