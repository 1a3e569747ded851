#include "requirements/file_backed_fact.h"

namespace dsbuild {

std::optional<FileBackedFact> recall(const FileReader& files, const FactStore& facts, const std::string& key,
                                     const std::string& identity) {
  const std::optional<std::string> value = facts.find(key, identity);
  if (!value) return std::nullopt;
  const std::vector<std::string> lines = split_lines(*value);
  if (lines.size() != 3) return std::nullopt;
  const std::optional<FileIdentity> now = files.identity(lines[1]);
  if (!now || now->text() != lines[2]) return std::nullopt;
  return FileBackedFact{lines[0], lines[1]};
}

void remember(const FileReader& files, FactStore& facts, const std::string& key, const std::string& identity,
              const FileBackedFact& found) {
  const std::optional<FileIdentity> now = files.identity(found.file);
  if (!now) return;
  facts.put(key, identity, found.answer + "\n" + found.file.string() + "\n" + now->text());
}

std::string program_identity(const FileReader& files, const Path& program) {
  const std::optional<FileIdentity> identity = files.identity(program);
  return program.string() + " " + (identity ? identity->text() : "?");
}

}  // namespace dsbuild
