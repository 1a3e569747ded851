// What a compiler sees of a source: the text of each preprocessor pass that a compile command makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/system.h"

namespace dsbuild {

enum class CompilerKind { nvcc, cxx };

// A whole compile command, with "-c SOURCE" in it; it may have "-o FILE" and the words for a depfile too.
using CompileCommand = std::vector<std::string>;

// Whether two commands that differ in macros, include folders and the name of a header included by force
// alone make the same object: every preprocessor pass gives the same text. A C++ compiler has one pass, nvcc
// one for each virtual arch and one for the host; it names them by --dryrun, and hands no macro of the
// command to any later step. Then the depfile of all passes of `ours` in Make's syntax, its target being
// `target`; nullopt where a text differs, or cannot be had (a pass fails, is 64 MiB or longer, nvcc's words
// are not understood). `scratch`: a path beside which a temporary file may be written; none stays. Runs in
// the current folder.
std::optional<std::string> depfile_if_same_texts(CompilerKind kind, const CompileCommand& ours,
                                                 const CompileCommand& theirs, const std::string& target,
                                                 const Path& scratch, System& system);

}  // namespace dsbuild
