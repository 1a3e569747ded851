#include "sys/remove_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "sys/descriptor.h"

namespace dsbuild {
namespace {

// How often a folder is emptied in which others make files meanwhile.
constexpr int k_most_refilled = 100;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// nullptr with errno set; ELOOP or ENOTDIR when it is a link.
Directory open_directory(int parent, const std::string& name) {
  const int number = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (number < 0) return nullptr;
  Directory directory(::fdopendir(number));
  if (directory) return directory;
  const int why = errno;
  ::close(number);
  errno = why;
  return nullptr;
}

std::vector<std::string> names_in(DIR* directory) {
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

// `path` is where `name` in the folder `parent` stands, for messages.
Result<void> remove_entry(int parent, const std::string& name, const Path& path) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return io_error(path, "removing", errno);
  const int unlink_error = errno;
  for (int i = 0; i < k_most_refilled; ++i) {
    const Directory directory = open_directory(parent, name);
    if (!directory && errno == ENOENT) return {};
    if (!directory) return io_error(path, "removing", errno == ENOTDIR ? unlink_error : errno);
    for (const std::string& entry : names_in(directory.get())) {
      DSBUILD_CHECK(remove_entry(::dirfd(directory.get()), entry, path / entry));
    }
    if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (errno != ENOTEMPTY && errno != EEXIST) break;
  }
  return io_error(path, "removing", errno);
}

}  // namespace

Result<void> remove_tree(const Path& path) {
  // "a/" names the folder a link leads to; "a" names the link.
  const Path named = path.has_filename() ? path : path.parent_path();
  if (!named.has_relative_path()) return io_error(path, "removing", EPERM);
  return remove_entry(AT_FDCWD, named.string(), path);
}

}  // namespace dsbuild
