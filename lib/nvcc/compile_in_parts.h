// Splits a compile of gcc, or of clang for HIP, into parts, if tools may run on a different machine: the
// preprocessor runs here, and the other parts (compiler_parts.h) run where the runner says.
#pragma once

#include <optional>

#include "exec/engine.h"

namespace dsbuild {

struct CompileInParts {
  std::vector<std::string> command;  // whole, with "-c", "-o OBJECT" and the words of a depfile
  std::string source;                // a word of it
  Environment environment;
  Path folder;       // where it runs; "": the current folder
  Path scratch;      // an existing folder for files between the parts
  std::string name;  // base name of these files: "adam"
};

// Returns the object, which equals the whole command's byte for byte. nullopt: this command cannot be split
// (compiler_parts.h), or a part failed or printed a message. Then the caller runs the whole command, whose
// messages people know. Writes the depfile in each case.
Result<std::optional<std::string>> compile_in_parts(const CompileInParts& compile, Engine& engine);

}  // namespace dsbuild
