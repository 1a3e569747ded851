// Finds sources that make a compile read files which no depfile names. Searches the source as text, so a
// directive in a comment counts, too.
#pragma once

#include <string_view>

namespace dsbuild {

// Whether the source may make the assembler read files, by .incbin or .include, also in pieces of a string.
// Does not see directives that macros compose. An assembler that lists the files it read sees all
// (files_in_assembler_depfile).
bool may_read_in_assembler(std::string_view source);

// Whether the source may read files as data, by #embed.
bool may_embed_files(std::string_view source);

}  // namespace dsbuild
