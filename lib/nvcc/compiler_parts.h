// What a compiler's driver starts after the preprocessor, as it says itself (-###): cc1plus and as of gcc,
// cc1 and lld of a clang that compiles HIP. Each part is given all that it reads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace dsbuild {

// Files in the folder that the parts run in.
struct PartFiles {
  std::string text;    // preprocessed
  std::string middle;  // between the parts: assembly of gcc, the unlinked code of a GPU
  std::string object;
};

struct CompilerPart {
  std::vector<std::string> words;  // of its command; every file in them is of that folder
  std::vector<std::string> inputs;
  std::string output;
};

struct CompilerParts {
  std::vector<CompilerPart> parts;     // the last one makes the object
  std::map<std::string, Path> linked;  // what they read of the toolkit: the names that it has in the folder
};

// Whether parts make the bytes that the whole command makes: not with debug information, plugins, or code
// that the link compiles; nor without optimisation, where gcc puts a nop at each line's begin, and lines of
// macros are other ones in the text.
bool can_be_parted(const std::vector<std::string>& command);

// The command that tells the parts of a compile of `source`, a word of `command`. It runs where the command
// does for HIP, and in the folder of the parts for gcc (asks_in_place).
std::vector<std::string> question_for_parts(const std::vector<std::string>& command,
                                            const std::string& source, const PartFiles& files);
bool asks_in_place(const std::vector<std::string>& command);

// Of the answer (standard error). nullopt: it names other parts, or files of elsewhere.
std::optional<CompilerParts> parts_in(const std::string& answer, const PartFiles& files);

}  // namespace dsbuild
