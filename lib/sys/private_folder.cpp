#include "sys/private_folder.h"

#include <cerrno>
#include <cstdlib>

#include "sys/descriptor.h"

namespace dsbuild {

Result<PrivateFolder> PrivateFolder::make(const Path& parent, FileSystem& files) {
  std::string name = (files.absolute(parent) / "dsbuild-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return fail(Exit::failed, "io", parent.string(), "making a folder in it: " + system_reason(errno),
                "Set TMPDIR to a folder that you can write to.");
  return PrivateFolder(name, files);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, Path())), files_(other.files_) {}

PrivateFolder::~PrivateFolder() {
  if (!path_.empty()) (void)files_.remove_all(path_);
}

}  // namespace dsbuild
