#include "sys/current_folder.h"

#include <unistd.h>

#include <cerrno>

#include "sys/descriptor.h"

namespace dsbuild {

Result<void> enter_folder(const Path& folder) {
  if (::chdir(folder.c_str()) != 0) return io_error(folder, "entering the folder", errno);
  return {};
}

}  // namespace dsbuild
