// A compile of gcc, or of a clang that compiles HIP, in parts, where tools may run on another machine: the
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
  Path scratch;      // for files between the parts; it is there
  std::string name;  // they have no extension of it: "adam"
};

// The object, which is that of the whole command byte for byte. nullopt: this command cannot be parted
// (compiler_parts.h), or a part failed or said something. Then the whole command is to run, whose words are
// those that people know. The depfile is written all the same.
Result<std::optional<std::string>> compile_in_parts(const CompileInParts& compile, Engine& engine);

}  // namespace dsbuild
