// The base of a file system that differs from another in a few functions: it passes all calls on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

class ForwardingFileSystem : public FileSystem {
 public:
  explicit ForwardingFileSystem(FileSystem& files) : files_(files) {}

  Result<std::string> read_file(const Path& path) const override { return files_.read_file(path); }
  Result<std::vector<std::string>> list(const Path& path) const override { return files_.list(path); }
  FileKind kind(const Path& path) const override { return files_.kind(path); }
  FileKind own_kind(const Path& path) const override { return files_.own_kind(path); }
  Opening opening(const Path& path) const override { return files_.opening(path); }
  bool is_executable(const Path& path) const override { return files_.is_executable(path); }
  std::optional<FileIdentity> identity(const Path& path) const override { return files_.identity(path); }
  std::optional<Path> real_path(const Path& path) const override { return files_.real_path(path); }
  Path absolute(const Path& path) const override { return files_.absolute(path); }
  std::optional<unsigned> owner(const Path& path) const override { return files_.owner(path); }
  bool others_can_write(const Path& path) const override { return files_.others_can_write(path); }
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

 protected:
  FileSystem& files_;
};

}  // namespace dsbuild
