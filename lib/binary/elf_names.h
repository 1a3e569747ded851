// An ELF-64 file with other names in its string tables, laid out as it was: what a tool would have written if
// the names had been the others. Source: as elf.h; the layout is that of ptxas (CUDA 11.8 to 13.5): sections
// in the order of their offsets, each at its alignment, then the headers of sections and segments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

using OtherName = std::function<std::optional<std::string>(std::string_view name)>;

// nullopt where `other` has none for a name; for a file that is not laid out like that, so that the same
// names would not give the same bytes; for one that is damaged.
std::optional<std::string> with_elf_names(std::string_view file, const OtherName& other);

}  // namespace dsbuild
