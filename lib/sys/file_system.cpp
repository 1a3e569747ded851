#include "sys/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "sys/atomic_file.h"
#include "sys/descriptor.h"
#include "sys/file_bytes.h"
#include "sys/remove_tree.h"

namespace dsbuild {
namespace {

constexpr unsigned k_rename_exchange = 2;  // RENAME_EXCHANGE; older headers hide it
constexpr size_t k_chunk = 1 << 18;
constexpr size_t k_page = 1 << 12;

int64_t nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

FileKind kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return FileKind::file;
  return S_ISDIR(status.st_mode) ? FileKind::directory : FileKind::other;
}

Opening opening_of(FileKind kind) {
  switch (kind) {
    case FileKind::absent:
      return Opening::absent;
    case FileKind::file:
      return Opening::file;
    case FileKind::directory:
      return Opening::directory;
    case FileKind::other:
      break;
  }
  return Opening::other;
}

// False on an error of reading or writing, with errno set.
bool copy_bytes(int from, AtomicFile& to) {
  // The kernel may share the blocks; it copies nothing between some file systems.
  while (::copy_file_range(from, nullptr, to.descriptor(), nullptr, size_t{1} << 30, 0) > 0) {
  }
  // What is left of it, which is nothing where that worked.
  std::vector<char> buffer(k_chunk);
  while (true) {
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count == 0) return true;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || !to.write({buffer.data(), static_cast<size_t>(count)})) return false;
  }
}

bool cannot_exchange(int error_number) {
  return error_number == EINVAL || error_number == EXDEV || error_number == EBUSY || error_number == ENOSYS ||
         error_number == ENOTSUP;
}

// "" if it was removed.
Path current_folder() {
  std::error_code removed;
  return std::filesystem::current_path(removed);
}

class RealFileSystem : public FileSystem {
 public:
  Result<std::string> read_file(const Path& path) const override {
    DSBUILD_TRY(file, open_regular_file(path));
    return read_all(file.descriptor.number(), path, static_cast<size_t>(file.size));
  }

  Result<std::unique_ptr<ByteSource>> open(const Path& path) const override { return open_bytes(path); }

  Result<std::vector<std::string>> list(const Path& path) const override {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return io_error(path, "listing", errno);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(directory)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    const int error_number = errno;
    ::closedir(directory);
    if (error_number != 0) return io_error(path, "listing", error_number);
    std::sort(names.begin(), names.end());
    return names;
  }

  FileKind kind(const Path& path) const override {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? kind_of(status) : FileKind::absent;
  }

  FileKind own_kind(const Path& path) const override {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? kind_of(status) : FileKind::absent;
  }

  Opening opening(const Path& path) const override {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0)
      return errno == ENOENT || errno == ENOTDIR ? Opening::absent : Opening::unreadable;
    constexpr mode_t k_read_by_all = S_IRUSR | S_IRGRP | S_IROTH;
    const bool is_read_by_all = (status.st_mode & k_read_by_all) == k_read_by_all;
    if (!is_read_by_all && ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) != 0)
      return Opening::unreadable;
    return opening_of(kind_of(status));
  }

  bool is_executable(const Path& path) const override {
    return kind(path) == FileKind::file && ::access(path.c_str(), X_OK) == 0;
  }

  std::optional<FileIdentity> identity(const Path& path) const override {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return FileIdentity{static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino),
                        static_cast<uint64_t>(status.st_size), nanoseconds(status.st_mtim),
                        nanoseconds(status.st_ctim)};
  }

  std::optional<Path> real_path(const Path& path) const override {
    char* const found = ::realpath(path.c_str(), nullptr);
    if (found == nullptr) return std::nullopt;
    Path real = found;
    std::free(found);
    return real;
  }

  bool others_can_write(const Path& path) const override {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return false;
    const bool is_own = status.st_uid == ::geteuid() || status.st_uid == 0;
    return !is_own || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  }

  std::optional<unsigned> owner(const Path& path) const override {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return status.st_uid;
  }

  std::optional<uint64_t> free_bytes(const Path& path) const override {
    struct statvfs disk{};
    if (::statvfs(path.c_str(), &disk) != 0) return std::nullopt;
    return uint64_t{disk.f_bavail} * disk.f_frsize;
  }

  Path absolute(const Path& path) const override {
    Path whole = (path.is_absolute() ? path : current_folder() / path).lexically_normal();
    return whole.has_filename() ? whole : whole.parent_path();
  }

  Result<void> write_file(const Path& path, std::string_view bytes, bool durable) override {
    AtomicFile file(path);
    if (!file.is_open() || !file.write(bytes) || !file.commit(0644, durable)) {
      return io_error(path, "writing", errno);
    }
    if (durable) return sync_directory(path.parent_path());
    return {};
  }

  Result<void> append(const Path& path, std::string_view bytes) override {
    Descriptor file = open_file(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (!file.is_open()) return io_error(path, "appending", errno);
    const ssize_t count = ::write(file.number(), bytes.data(), bytes.size());
    if (count < 0) return io_error(path, "appending", errno);
    // The disk is full, or the file may not grow: the next write says which.
    if (count != static_cast<ssize_t>(bytes.size())) {
      const std::string_view rest = bytes.substr(static_cast<size_t>(count));
      const bool refused = ::write(file.number(), rest.data(), rest.size()) < 0;
      return io_error(path, "appending", refused ? errno : ENOSPC);
    }
    return file.close() ? Result<void>() : io_error(path, "appending", errno);
  }

  Result<void> set_mtime(const Path& path, int64_t mtime_ns) override {
    constexpr int64_t k_second = 1'000'000'000;
    const std::array<timespec, 2> times = {
        timespec{0, UTIME_OMIT}, timespec{mtime_ns / k_second, static_cast<long>(mtime_ns % k_second)}};
    if (::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0) return {};
    return io_error(path, "setting its time", errno);
  }

  Result<void> make_directories(const Path& path) override {
    if (kind(path) == FileKind::directory) return {};
    if (path.has_parent_path() && path.parent_path() != path) {
      DSBUILD_CHECK(make_directories(path.parent_path()));
    }
    // "a/b/" has the parent "a/b", which is made by now.
    if (::mkdir(path.c_str(), 0755) == 0) return set_mode(path);
    const int error_number = errno;
    if (error_number == EEXIST && kind(path) == FileKind::directory) return {};
    // It was there, and is removed since.
    if (error_number == EEXIST && own_kind(path) == FileKind::absent) return make_directories(path);
    return io_error(path, "making the folder", error_number);
  }

  Result<void> copy_file(const Path& from, const Path& to, bool executable) override {
    const Descriptor source = open_file(from, O_RDONLY | O_NONBLOCK);
    if (!source.is_open()) return io_error(from, "reading", errno);
    if (kind(from) != FileKind::file) {
      return fail(Exit::failed, "io", from.string(), "copying: not a regular file");
    }
    AtomicFile target(to);
    if (!target.is_open() || !copy_bytes(source.number(), target) ||
        !target.commit(executable ? 0755 : 0644, true)) {
      return io_error(to, "writing a copy of " + from.string(), errno);
    }
    return {};
  }

  Result<void> make_symlink(const Path& target, const Path& link) override {
    struct stat status{};
    if (::lstat(link.c_str(), &status) == 0 && !S_ISLNK(status.st_mode)) {
      return io_error(link, "making a symbolic link", EEXIST);
    }
    const Path temporary = temporary_beside(link);
    if (::symlink(target.c_str(), temporary.c_str()) != 0) {
      return io_error(link, "making a symbolic link", errno);
    }
    if (::rename(temporary.c_str(), link.c_str()) == 0) return {};
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return io_error(link, "making a symbolic link", error_number);
  }

  Result<void> rename(const Path& from, const Path& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    return io_error(to, "renaming " + from.string() + " to it", errno);
  }

  Result<void> exchange(const Path& a, const Path& b) override {
    // Through syscall: glibc has renameat2 since 2.28 only.
    if (::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), k_rename_exchange) == 0) return {};
    const int error_number = errno;
    auto error = io_error(a, "exchanging it with " + b.string(), error_number);
    if (cannot_exchange(error_number)) error.value().code = "cannot_exchange";
    return error;
  }

  Result<void> remove_all(const Path& path) override { return remove_tree(path); }

  Result<void> sync_directory(const Path& path) override {
    const Path folder = path.empty() ? Path(".") : path;
    const Descriptor directory = open_file(folder, O_RDONLY | O_DIRECTORY);
    if (!directory.is_open()) return io_error(folder, "writing the folder", errno);
    // EINVAL: a file system that keeps folders in memory only.
    if (::fsync(directory.number()) == 0 || errno == EINVAL) return {};
    return io_error(folder, "writing the folder", errno);
  }

 private:
  static Result<std::string> read_all(int file, const Path& path, size_t expected_size) {
    // A byte more than is expected: the read that finds the end needs no more room. Files of /proc say that
    // they have none, and some give all to the first read alone.
    std::string bytes(std::max(expected_size + 1, k_page), '\0');
    for (size_t size = 0;;) {
      if (size == bytes.size()) bytes.resize(size + k_chunk);
      const ssize_t count = ::read(file, bytes.data() + size, bytes.size() - size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return io_error(path, "reading", errno);
      size += static_cast<size_t>(count);
      if (count > 0) continue;
      bytes.resize(size);
      return bytes;
    }
  }

  // mkdir took the umask off; a set-group-id bit that came from the parent stays. Whoever has removed the
  // folder since is not in its way.
  static Result<void> set_mode(const Path& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) {
      if ((status.st_mode & 0777) == 0755) return {};
      if (::chmod(path.c_str(), (status.st_mode & 07000) | 0755) == 0) return {};
    }
    if (errno == ENOENT) return {};
    return io_error(path, "making the folder", errno);
  }
};

}  // namespace

Opening FileReader::opening(const Path& path) const {
  return opening_of(kind(path));
}

Result<std::unique_ptr<ByteSource>> FileReader::open(const Path& path) const {
  DSBUILD_TRY(bytes, read_file(path));
  return std::make_unique<OwnedBytes>(std::move(bytes));
}

std::string FileIdentity::text() const {
  std::string text = std::to_string(device);
  text += ":" + std::to_string(inode) + ":" + std::to_string(size);
  text += ":" + std::to_string(mtime_ns) + ":" + std::to_string(ctime_ns);
  return text;
}

std::string FileIdentity::size_and_time() const {
  return std::to_string(size) + ":" + std::to_string(mtime_ns);
}

Result<void> FileSystem::make_empty_directory(const Path& path) {
  DSBUILD_CHECK(make_directories(path));
  DSBUILD_TRY(names, list(path));
  for (const std::string& name : names)
    DSBUILD_CHECK(remove_all(path / name));
  return {};
}

Result<bool> FileSystem::write_if_different(const Path& path, std::string_view bytes) {
  if (kind(path) == FileKind::file) {
    const auto present = read_file(path);
    if (present && *present == bytes) return false;
  }
  DSBUILD_CHECK(write_file(path, bytes));
  return true;
}

std::unique_ptr<FileSystem> make_real_file_system() {
  return std::make_unique<RealFileSystem>();
}

}  // namespace dsbuild
