// Files that a compile reads and no depfile tells of, or not of all that was looked for.
#pragma once

#include <string_view>

namespace dsbuild {

// Whether the source may have the assembler read files (.incbin and .include, also in pieces of a string) or
// may take files as data (#embed). It is searched as text: one that only speaks of them counts too.
bool reads_unnamed_files(std::string_view source);

}  // namespace dsbuild
