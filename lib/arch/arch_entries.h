// Private to lib/arch.
#pragma once

#include "arch/arch_list.h"

namespace dsbuild {

// What a list names: archs, or GPUs, which go by what they are sold as too.
enum class EntriesOf { archs, gpus };

// parse_arch_list without the question whether one library may hold all of it.
Result<ArchRequest> parse_arch_entries(std::string_view text, const std::string& where,
                                       EntriesOf names = EntriesOf::archs);

}  // namespace dsbuild
