#include "sys/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "sys/descriptor.h"
#include "sys/remove_tree.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long k_nfs_magic = 0x6969;  // NFS_SUPER_MAGIC of statfs(2)
// Waiting in steps instead of inside flock lets the time-out work without signals.
constexpr std::chrono::milliseconds k_retry_interval{50};
// One after the other. Each takes another process that made it and removed it.
constexpr int k_most_vanished_folders = 1000;

enum class Attempt { taken, held, unsupported, broken };

Attempt try_lock(const Descriptor& file) {
  while (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return Attempt::held;
    return errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP ? Attempt::unsupported : Attempt::broken;
  }
  return Attempt::taken;
}

tl::unexpected<Error> unsupported(const Path& file) {
  return fail(Exit::unmet, "lock_unsupported", file.string(),
              "this file system has no locks that hold (it is NFS, or like it)",
              "choose a folder on a local disk (--build-dir, --out)");
}

// NFS may block for ever even when asked not to, so it is asked first what it is.
bool is_on_nfs(const Descriptor& file) {
  struct statfs status{};
  return ::fstatfs(file.number(), &status) == 0 && static_cast<long>(status.f_type) == k_nfs_magic;
}

// One that is not open where the folder is not there.
Result<Descriptor> open_lock_file(const Path& path) {
  Descriptor file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644);
  const int error_number = file.is_open() ? 0 : errno;
  // Another user's lock, or one on a read-only disk, can be taken without being written.
  if (error_number == EACCES || error_number == EROFS)
    file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (error_number == ENOENT) return file;
  if (!file.is_open()) return io_error(path, "making the lock file", error_number);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return io_error(path, "making the lock file", errno);
  if (!S_ISREG(status.st_mode)) {
    return fail(Exit::failed, "io", path.string(), "making the lock file: something else stands there",
                "remove it");
  }
  if (is_on_nfs(file)) return unsupported(path);
  return file;
}

// Not when somebody removed the folder, and made it again, while we waited for its lock.
bool is_still_at(const Path& path, const Descriptor& file) {
  struct stat ours{};
  struct stat there{};
  return ::fstat(file.number(), &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

std::string read_told(const Descriptor& file) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::pread(file.number(), buffer.data(), buffer.size(), 0);
  return {buffer.data(), count > 0 ? static_cast<size_t>(count) : 0};
}

std::string read_holder(const Descriptor& file) {
  const std::string text = read_told(file);
  const std::string holder = trim(printable(text.substr(0, text.find('\n'))));
  return holder.empty() ? "another process" : holder;
}

std::string first_line_of(const std::string& command_line) {
  return std::to_string(::getpid()) + " " + printable(command_line) + "\n";
}

// For who waits. A full disk takes nothing from the lock, so that errors do not matter.
void write_holder(const Descriptor& file, const std::string& text) {
  [[maybe_unused]] bool written = ::ftruncate(file.number(), 0) == 0;
  written = ::pwrite(file.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

class RealFolderLock : public FolderLock {
 public:
  RealFolderLock(Descriptor file, const std::string& command_line)
      : file_(std::move(file)), first_line_(first_line_of(command_line)) {
    write_holder(file_, first_line_);
  }
  int descriptor() const override { return file_.number(); }
  // One write of a fixed length, so that nobody reads half of it or the end of an older one.
  void tell(const std::string& lines) const override {
    std::string text = first_line_ + lines.substr(0, k_most_told);
    text.resize(std::max(text.size(), first_line_.size() + k_most_told), '\n');
    [[maybe_unused]] const ssize_t written = ::pwrite(file_.number(), text.data(), text.size(), 0);
  }

 private:
  Descriptor file_;
  const std::string first_line_;
};

class Waiter {
 public:
  Waiter(const Path& path, std::optional<std::chrono::seconds> timeout,
         const std::function<void(const std::string&)>& on_wait)
      : path_(path), timeout_(timeout), on_wait_(on_wait) {}

  // One that is not open where the folder is not there.
  Result<Descriptor> take() {
    while (true) {
      DSBUILD_TRY(file, open_lock_file(path_));
      if (!file.is_open()) return file;
      DSBUILD_TRY(is_taken, wait_for(file));
      if (is_taken && is_still_at(path_, file)) return file;
    }
  }

  Result<Descriptor> take_in_made_folder() {
    const auto files = make_real_file_system();
    for (int i = 0; i < k_most_vanished_folders; ++i) {
      DSBUILD_CHECK(files->make_directories(path_.parent_path()));
      DSBUILD_TRY(file, take());
      if (file.is_open()) return file;
    }
    return io_error(path_, "making the lock file", ENOENT);
  }

 private:
  // false when the file is removed meanwhile: whoever did that has nothing left to do in the folder.
  Result<bool> wait_for(const Descriptor& file) {
    while (true) {
      switch (try_lock(file)) {
        case Attempt::taken:
          return true;
        case Attempt::unsupported:
          return unsupported(path_);
        case Attempt::broken:
          return io_error(path_, "locking", errno);
        case Attempt::held:
          if (!is_still_at(path_, file)) return false;
          DSBUILD_CHECK(pause(read_holder(file)));
      }
    }
  }

  Result<void> pause(const std::string& holder) {
    if (!told_ && on_wait_) on_wait_(holder);
    told_ = true;
    if (timeout_ && Clock::now() - start_ >= *timeout_) {
      return fail(Exit::locked, "locked", path_.string(),
                  "still locked after " + std::to_string(timeout_->count()) + " s by " + holder,
                  "wait until it ends, or use another folder");
    }
    std::this_thread::sleep_for(k_retry_interval);
    return {};
  }

  const Path& path_;
  std::optional<std::chrono::seconds> timeout_;
  const std::function<void(const std::string&)>& on_wait_;
  Clock::time_point start_ = Clock::now();
  bool told_ = false;
};

std::unique_ptr<FolderLock> held_by_us(Descriptor file, const std::string& command_line) {
  if (!file.is_open()) return nullptr;
  return std::make_unique<RealFolderLock>(std::move(file), command_line);
}

}  // namespace

Result<std::unique_ptr<FolderLock>> take_lock(const Path& file, const std::string& command_line,
                                              std::optional<std::chrono::seconds> timeout,
                                              const std::function<void(const std::string&)>& on_wait) {
  DSBUILD_TRY(taken, Waiter(file, timeout, on_wait).take_in_made_folder());
  return held_by_us(std::move(taken), command_line);
}

Result<std::unique_ptr<FolderLock>> take_lock_if_there(
    const Path& file, const std::string& command_line, std::optional<std::chrono::seconds> timeout,
    const std::function<void(const std::string&)>& on_wait) {
  DSBUILD_TRY(taken, Waiter(file, timeout, on_wait).take());
  return held_by_us(std::move(taken), command_line);
}

Result<std::unique_ptr<FolderLock>> take_lock_while(const Path& file, const std::string& command_line,
                                                    const std::function<bool(const std::string&)>& goes_on) {
  while (true) {
    auto taken = take_lock(file, command_line, std::chrono::seconds::zero(), {});
    if (taken || taken.error().code != "locked") return taken;
    const Descriptor there = open_file(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!goes_on(there.is_open() ? read_told(there) : "")) return nullptr;
    std::this_thread::sleep_for(k_retry_interval);
  }
}

Result<void> remove_locked_folder(const Path& file, const std::string& last) {
  const Path folder = file.parent_path();
  DSBUILD_TRY(names, make_real_file_system()->list(folder));
  for (const std::string& name : names)
    if (name != last && name != file.filename()) DSBUILD_CHECK(remove_tree(folder / name));
  DSBUILD_CHECK(remove_tree(folder / last));
  DSBUILD_CHECK(remove_tree(file));
  // From here on the folder may be another's, who makes what it needs or removes it too.
  if (::rmdir(folder.c_str()) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST) return {};
  return io_error(folder, "removing", errno);
}

}  // namespace dsbuild
