#include "file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "system_error.h"

namespace dsbuild::ops {
namespace {

int open_retrying(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

std::string check_there(int64_t size, int64_t offset, int64_t length) {
  if (length <= size - offset) return {};
  return "the file has " + std::to_string(size) + " bytes; " + std::to_string(length) + " from offset " +
         std::to_string(offset) + " on are wanted";
}

// A disk that is too full says so before anything is written, and direct writes then extend no file, which
// would make them wait for each other.
std::string take_room(int descriptor, int64_t size, int64_t offset, int64_t length) {
  if (length == 0 || offset + length <= size) return {};
  int result = 0;
  do {
    result = fallocate(descriptor, 0, offset, length);
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return errno_text(errno) + ": no room for " + std::to_string(length) + " bytes from offset " +
         std::to_string(offset) + " on";
}

}  // namespace

std::string File::open(const std::string& path, Direction direction, int64_t offset, int64_t length,
                       bool direct) {
  const int flags = direction == Direction::read ? O_RDONLY : O_WRONLY | O_CREAT;
  cached_ = open_retrying(path, flags | O_NONBLOCK);  // opening a pipe would wait for its other end
  struct stat status{};
  if (cached_ < 0 || fstat(cached_, &status) != 0) return errno_text(errno);
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  const std::string error = direction == Direction::read ? check_there(status.st_size, offset, length)
                                                         : take_room(cached_, status.st_size, offset, length);
  if (!error.empty()) return error;
  if (direct) direct_ = open_retrying(path, flags | O_DIRECT);  // not every file system can
  return {};
}

std::string File::close() {
  int code = 0;
  for (int* descriptor : {&direct_, &cached_}) {
    if (*descriptor >= 0 && ::close(*descriptor) != 0 && errno != EINTR) code = errno;
    *descriptor = -1;
  }
  return code == 0 ? std::string() : errno_text(code);
}

}  // namespace dsbuild::ops
