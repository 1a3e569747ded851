// Files that a compile reads and no depfile tells of, or not of all that was looked for. A source is searched
// as text: one that only speaks of them counts too.
#pragma once

#include <string_view>

namespace dsbuild {

// Whether it may have an assembler read files: .incbin and .include, also in pieces of a string. Directives
// that macros put together are not seen; an assembler that says what it read (files_in_assembler_depfile)
// sees all.
bool may_read_in_assembler(std::string_view source);

// Whether it may take files as data: #embed.
bool may_embed_files(std::string_view source);

}  // namespace dsbuild
