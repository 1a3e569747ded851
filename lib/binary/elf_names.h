// Replaces names in the string tables of an ELF-64 file and keeps its layout, so the result is what the tool
// would have written with the new names. Source: as elf.h; the layout is that of ptxas (CUDA 11.8 to 13.5):
// sections in the order of their offsets, each at its alignment, then the headers of sections and segments.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

using OtherName = std::function<std::optional<std::string>(std::string_view name)>;

// nullopt if `other` returns nullopt for a name, or if the file is damaged. Also nullopt for a file with a
// different layout: there, equal names would not give equal bytes.
std::optional<std::string> with_elf_names(std::string_view file, const OtherName& other);

}  // namespace dsbuild
