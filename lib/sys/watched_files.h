// A file system that records each question to the disk and its answer. Work need not be repeated while the
// answers stay the same.
#pragma once

#include <map>
#include <string>

#include "sys/file_system.h"

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

// Passes all calls on to the real file system. Files written through it are not recorded as answers.
class WatchedFiles : public FileSystem {
 public:
  explicit WatchedFiles(FileSystem& files) : files_(files) {}
  const Answers& answers() const { return answers_; }

  Result<std::string> read_file(const Path& path) const override;
  Result<std::vector<std::string>> list(const Path& path) const override;
  FileKind kind(const Path& path) const override;
  FileKind own_kind(const Path& path) const override;
  Opening opening(const Path& path) const override;
  bool is_executable(const Path& path) const override;
  std::optional<FileIdentity> identity(const Path& path) const override;
  std::optional<Path> real_path(const Path& path) const override;
  Path absolute(const Path& path) const override { return files_.absolute(path); }
  bool others_can_write(const Path& path) const override { return files_.others_can_write(path); }
  std::optional<unsigned> owner(const Path& path) const override { return files_.owner(path); }
  std::optional<uint64_t> free_bytes(const Path& path) const override { return files_.free_bytes(path); }

  Result<void> write_file(const Path& path, std::string_view bytes, bool durable) override {
    return files_.write_file(path, bytes, durable);
  }
  Result<void> append(const Path& path, std::string_view bytes) override {
    return files_.append(path, bytes);
  }
  Result<void> set_mtime(const Path& path, int64_t mtime_ns) override {
    return files_.set_mtime(path, mtime_ns);
  }
  Result<void> make_directories(const Path& path) override { return files_.make_directories(path); }
  Result<void> copy_file(const Path& from, const Path& to, bool executable) override {
    return files_.copy_file(from, to, executable);
  }
  Result<void> make_symlink(const Path& target, const Path& link) override {
    return files_.make_symlink(target, link);
  }
  Result<void> rename(const Path& from, const Path& to) override { return files_.rename(from, to); }
  Result<void> exchange(const Path& a, const Path& b) override { return files_.exchange(a, b); }
  Result<void> remove_all(const Path& path) override { return files_.remove_all(path); }
  Result<void> sync_directory(const Path& path) override { return files_.sync_directory(path); }

 private:
  void note(Question question, const Path& path) const;

  FileSystem& files_;
  mutable Answers answers_;
};

}  // namespace dsbuild
