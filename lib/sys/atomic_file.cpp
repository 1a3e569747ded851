#include "sys/atomic_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "sys/file_system.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_own_temporary_end = ".dsbuild-tmp";

}  // namespace

Path temporary_beside(const Path& path) {
  uint64_t number = 0;
  // Where the kernel has no randomness yet, O_EXCL still refuses a name that is taken.
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<uint64_t>(::getpid());
  // Not made from path's name, which may already be as long as a name can be.
  return path.parent_path() / ("." + std::to_string(number) + std::string(k_own_temporary_end));
}

AtomicFile::AtomicFile(Path path)
    : path_(std::move(path)),
      temporary_(temporary_beside(path_)),
      file_(open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600)) {
  if (!file_.is_open()) temporary_.clear();
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  const int kept = errno;
  ::unlink(temporary_.c_str());
  errno = kept;
}

bool AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

bool AtomicFile::commit(unsigned mode, bool durable) {
  if (::fchmod(file_.number(), mode) != 0) return false;
  if (durable && ::fsync(file_.number()) != 0) return false;
  // Some file systems report a full disk only here.
  if (!file_.close()) return false;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return false;
  temporary_.clear();
  return true;
}

bool is_own_temporary(std::string_view name) {
  return name.size() > k_own_temporary_end.size() && name.ends_with(k_own_temporary_end);
}

}  // namespace dsbuild
