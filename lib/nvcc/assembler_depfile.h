// The files that the assembler of a compile read, as GNU as says (--MD). The object's bytes do not depend on
// whether it is asked.
#pragma once

#include "exec/record_maker.h"
#include "nvcc/nvcc_commands.h"

namespace dsbuild {

// What makes a compile of gcc's or nvcc's write the depfile, at the command's end. None for -flto, which
// assembles in the link and writes the words into the object, nor where that may stand in another file, nor
// where the path has characters that one of them takes for its own.
Args words_for_assembler(const Args& command, const std::string& depfile);

// Adds the files that the depfile names, and removes it. The assembler counts as silent where there is no
// depfile, or where the object is assembled only when it is linked.
void add_files_of_assembler(const Path& depfile, std::string_view object, FilesRead& read, FileSystem& files);

// Whether it has code that is assembled in the link: of gcc's -flto, or clang's.
bool is_assembled_in_link(std::string_view object);

}  // namespace dsbuild
