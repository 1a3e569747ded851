// A temporary folder that only this user can enter.
#pragma once

#include "sys/file_system.h"

namespace dsbuild {

class PrivateFolder {
 public:
  // Makes it below `parent`, with a unique name. Errors: exit 1 `io`.
  static Result<PrivateFolder> make(const Path& parent, FileSystem& files);
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  // Removes it with all that is in it.
  ~PrivateFolder();

  const Path& path() const { return path_; }

 private:
  PrivateFolder(Path path, FileSystem& files) : path_(std::move(path)), files_(files) {}
  Path path_;
  FileSystem& files_;
};

}  // namespace dsbuild
