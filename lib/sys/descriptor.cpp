#include "sys/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "sys/limits.h"

namespace dsbuild {
bool Descriptor::close() {
  return number_ < 0 || ::close(std::exchange(number_, -1)) == 0;
}

Descriptor open_file(const Path& path, int flags, unsigned mode) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  if (number < 0) note_refusal(errno);
  return Descriptor(number);
}

std::string system_reason(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace dsbuild
