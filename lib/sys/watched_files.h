// A file system that records each question to the disk and its answer. Work need not be repeated while the
// answers stay the same.
#pragma once

#include <map>
#include <string>

#include "sys/forwarding_file_system.h"

namespace dsbuild {

// The kind of a question about a path. A file that was read and one whose identity was asked count by their
// identity, and a folder that was listed by its own, which changes with the names in it.
enum class Question : char {
  identity = 'f',
  names = 'l',
  kind = 'k',
  opening = 'p',
  own_kind = 'o',
  is_executable = 'x',
  real_path = 'r',
};
using Answers = std::map<std::pair<std::string, Question>, std::string>;

// The present answer: "-" if the path is absent, "?" if that is unknown.
std::string answer_to(Question question, const Path& path, const FileReader& files);

// Files written through it are not recorded as answers.
class WatchedFiles : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  const Answers& answers() const { return answers_; }

  Result<std::string> read_file(const Path& path) const override;
  Result<std::vector<std::string>> list(const Path& path) const override;
  FileKind kind(const Path& path) const override;
  FileKind own_kind(const Path& path) const override;
  Opening opening(const Path& path) const override;
  bool is_executable(const Path& path) const override;
  std::optional<FileIdentity> identity(const Path& path) const override;
  std::optional<Path> real_path(const Path& path) const override;

 private:
  void note(Question question, const Path& path) const;

  mutable Answers answers_;
};

}  // namespace dsbuild
