#include "sys/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace dsbuild {
namespace {

std::string fix_for(int error_number, const Path& path) {
  const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::string folder = shell_quote(parent);
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free space there (df -h " + folder + "), or choose a folder on another disk";
    case EACCES:
    case EPERM:
      return "get the right to it (ls -ld " + folder + "), or choose another folder";
    case EROFS:
      return "it is mounted read-only; choose another folder";
    case EMFILE:
    case ENFILE:
      return "allow more open files (ulimit -n)";
    case ENAMETOOLONG:
      return "use a shorter path";
    case ELOOP:
      return "remove the symbolic link that stands there";
    default:
      return "";
  }
}

}  // namespace

bool Descriptor::close() {
  return number_ < 0 || ::close(std::exchange(number_, -1)) == 0;
}

Descriptor open_file(const Path& path, int flags, unsigned mode) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

tl::unexpected<Error> io_error(const Path& path, const std::string& doing, int error_number) {
  return fail(Exit::failed, "io", path.string(), doing + ": " + system_reason(error_number),
              fix_for(error_number, path));
}

}  // namespace dsbuild
