// Remembers the answer of a probe's process together with the file that it depends on. If that file changes
// or vanishes, the answer is forgotten.
#pragma once

#include <optional>
#include <string>

#include "sys/fact_store.h"
#include "sys/system.h"

namespace dsbuild {

struct FileBackedFact {
  std::string answer;  // one line
  Path file;           // absolute
};

// `identity` names all that the answer depends on besides the file: program, flags, variables.
std::optional<FileBackedFact> recall(const FileReader& files, const FactStore& facts, const std::string& key,
                                     const std::string& identity);
// Does nothing if the file cannot be identified: then the probe runs again next time.
void remember(const FileReader& files, FactStore& facts, const std::string& key, const std::string& identity,
              const FileBackedFact& found);

// "path identity" of a program, for `identity` above.
std::string program_identity(const FileReader& files, const Path& program);

}  // namespace dsbuild
