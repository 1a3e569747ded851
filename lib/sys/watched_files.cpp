#include "sys/watched_files.h"

namespace dsbuild {

std::string answer_to(Question question, const Path& path, const FileReader& files) {
  switch (question) {
    case Question::identity:
    case Question::names: {
      const auto identity = files.identity(path);
      if (identity) return identity->text();
      return files.opening(path) == Opening::unreadable ? "?" : "-";
    }
    case Question::kind:
      return std::to_string(static_cast<int>(files.kind(path)));
    case Question::opening:
      return std::to_string(static_cast<int>(files.opening(path)));
    case Question::own_kind:
      return std::to_string(static_cast<int>(files.own_kind(path)));
    case Question::is_executable:
      return files.is_executable(path) ? "yes" : "no";
    case Question::real_path: {
      const auto real = files.real_path(path);
      return real ? real->string() : "-";
    }
  }
  return "-";
}

// The first answer counts: one that is another by now is found to be so when it is compared.
void WatchedFiles::note(Question question, const Path& path) const {
  const auto [known, is_new] = answers_.try_emplace({path.string(), question});
  if (is_new) known->second = answer_to(question, path, files_);
}

Result<std::string> WatchedFiles::read_file(const Path& path) const {
  note(Question::identity, path);
  return files_.read_file(path);
}

Result<std::vector<std::string>> WatchedFiles::list(const Path& path) const {
  note(Question::names, path);
  return files_.list(path);
}

FileKind WatchedFiles::kind(const Path& path) const {
  note(Question::kind, path);
  return files_.kind(path);
}

FileKind WatchedFiles::own_kind(const Path& path) const {
  note(Question::own_kind, path);
  return files_.own_kind(path);
}

Opening WatchedFiles::opening(const Path& path) const {
  note(Question::opening, path);
  return files_.opening(path);
}

bool WatchedFiles::is_executable(const Path& path) const {
  note(Question::is_executable, path);
  return files_.is_executable(path);
}

std::optional<FileIdentity> WatchedFiles::identity(const Path& path) const {
  note(Question::identity, path);
  return files_.identity(path);
}

std::optional<Path> WatchedFiles::real_path(const Path& path) const {
  note(Question::real_path, path);
  return files_.real_path(path);
}

}  // namespace dsbuild
