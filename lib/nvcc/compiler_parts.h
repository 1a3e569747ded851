// The commands that a compiler's driver starts after the preprocessor, according to its own answer (-###):
// cc1plus and as for gcc, cc1 and lld for a clang that compiles HIP. The list of each part's inputs is
// complete.
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
  std::string middle;  // between the parts: gcc's assembly, or unlinked GPU code
  std::string object;
};

struct CompilerPart {
  std::vector<std::string> words;  // of its command; every file in them is in the parts' folder
  std::vector<std::string> inputs;
  std::string output;
};

struct CompilerParts {
  std::vector<CompilerPart> parts;     // the last one makes the object
  std::map<std::string, Path> linked;  // files of the toolkit that they read: name in the folder -> path
};

// Whether parts make the same bytes as the whole command. They do not with debug information, plugins or
// link-time code. Nor do they without optimisation: gcc then puts a nop at the begin of each line, and macros
// have other lines in preprocessed text.
bool can_be_parted(const std::vector<std::string>& command);

// The command that prints the parts of a compile of `source`, a word of `command`. Run it in the compile's
// folder for HIP (asks_in_place is true), and in the parts' folder for gcc.
std::vector<std::string> question_for_parts(const std::vector<std::string>& command,
                                            const std::string& source, const PartFiles& files);
bool asks_in_place(const std::vector<std::string>& command);

// Parses the answer (standard error). nullopt: it has unknown parts, or files of other folders.
std::optional<CompilerParts> parts_in(const std::string& answer, const PartFiles& files);

}  // namespace dsbuild
