// Remembering what a probe's process found, together with the file that the answer rests on: an
// answer whose file has changed or gone is forgotten.
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
// Does nothing where the file cannot be identified: then the probe runs again next time.
void remember(const FileReader& files, FactStore& facts, const std::string& key, const std::string& identity,
              const FileBackedFact& found);

// "path identity" of a program, for `identity` above.
std::string program_identity(const FileReader& files, const Path& program);

}  // namespace dsbuild
