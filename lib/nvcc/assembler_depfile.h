// The files that the assembler of a compile read, as GNU as says (--MD). The object's bytes do not depend on
// whether it is asked.
#pragma once

#include "exec/record_maker.h"
#include "nvcc/nvcc_commands.h"

namespace dsbuild {

// The words at the end of a gcc or nvcc command that make the assembler write the depfile. Empty for -flto,
// which assembles at link time and writes these words into the object; if a file with options may contain
// -flto; and if a tool would interpret characters of the path.
Args words_for_assembler(const Args& command, const std::string& depfile);

// Adds the depfile's files to `read`, and removes the depfile. Sets by_silent_assembler if there is no
// depfile, or if the object is assembled only at link time.
void add_files_of_assembler(const Path& depfile, std::string_view object, FilesRead& read, FileSystem& files);

// Whether the object has code that is assembled at link time: from -flto of gcc or clang.
bool is_assembled_in_link(std::string_view object);

}  // namespace dsbuild
