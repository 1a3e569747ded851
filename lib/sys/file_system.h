// The disk, as the stages see it: the only place that opens, lists, writes or renames files.
// Paths may be relative to the current folder. Errors carry the path in `where` and the system's
// reason in `what` ("No space left on device"); exit 1, code `io`, unless said otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

enum class FileKind { absent, file, directory, other };

// The result of opening a path to read it, with links followed. `unreadable`: no permission, also for a
// folder above it, or a loop of links. `other`: a pipe, a device.
enum class Opening { absent, file, directory, other, unreadable };

// Changes whenever the file's content may have changed: nothing resets ctime.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;     // bytes
  int64_t mtime_ns = 0;  // nanoseconds since the epoch
  int64_t ctime_ns = 0;
  std::string text() const;           // "device:inode:size:mtime:ctime"
  std::string size_and_time() const;  // "size:mtime", by which a file of tools and packages counts
  bool operator==(const FileIdentity&) const = default;
};

class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual Result<std::string> read_file(const Path& path) const = 0;
  // Opens a regular file whose parts are read when they are requested.
  virtual Result<std::unique_ptr<ByteSource>> open(const Path& path) const;
  // Names (not paths) in a directory, sorted bytewise, without "." and "..".
  virtual Result<std::vector<std::string>> list(const Path& path) const = 0;
  virtual FileKind kind(const Path& path) const = 0;      // follows symbolic links
  virtual FileKind own_kind(const Path& path) const = 0;  // a symbolic link is `other`
  // The default follows from kind() and ignores permissions.
  virtual Opening opening(const Path& path) const;
  virtual bool is_executable(const Path& path) const = 0;
  virtual std::optional<FileIdentity> identity(const Path& path) const = 0;  // follows links
  // Absolute, without symbolic links, "." and ".."; nullopt when it does not exist.
  virtual std::optional<Path> real_path(const Path& path) const = 0;
  virtual Path absolute(const Path& path) const = 0;  // lexically, against the current folder
  // Whether someone else than this user and root may change it; of what is not there nobody can.
  virtual bool others_can_write(const Path& path) const = 0;
  // The number of the user who owns it; nullopt: it is not there.
  virtual std::optional<unsigned> owner(const Path& path) const = 0;
  // The bytes that a user other than root can still write on the disk of `path`; nullopt: unknown.
  virtual std::optional<uint64_t> free_bytes(const Path& path) const = 0;
};

class FileSystem : public FileReader {
 public:
  // The file appears whole or not at all: a temporary next to it (mkstemp, O_EXCL), optional fsync, rename.
  // Mode 0644 whatever the umask.
  virtual Result<void> write_file(const Path& path, std::string_view bytes, bool durable = false) = 0;
  // Appends in one call, so the texts of several processes do not mix. Makes the file if it is absent. A
  // symbolic link is an error.
  virtual Result<void> append(const Path& path, std::string_view bytes) = 0;
  virtual Result<void> set_mtime(const Path& path, int64_t mtime_ns) = 0;  // follows no link
  // Does nothing, and returns false, when the file already holds exactly `bytes`.
  Result<bool> write_if_different(const Path& path, std::string_view bytes);
  virtual Result<void> make_directories(const Path& path) = 0;  // mode 0755
  // Copies bytes; mode 0755 if `executable`, else 0644; fsync.
  virtual Result<void> copy_file(const Path& from, const Path& to, bool executable) = 0;
  virtual Result<void> make_symlink(const Path& target, const Path& link) = 0;  // replaces a link
  virtual Result<void> rename(const Path& from, const Path& to) = 0;
  // Swaps two folders in one step (renameat2 RENAME_EXCHANGE). code `cannot_exchange` where the
  // file system or a mount point does not allow it.
  virtual Result<void> exchange(const Path& a, const Path& b) = 0;
  virtual Result<void> remove_all(const Path& path) = 0;  // no error when absent; never follows links
  virtual Result<void> sync_directory(const Path& path) = 0;

  // Whether the folder exists and is empty.
  Result<void> make_empty_directory(const Path& path);
};

std::unique_ptr<FileSystem> make_real_file_system();

// Whether a file has the name of a temporary, which write_file and copy_file write before the rename. A
// process that was killed has left the old ones.
bool is_own_temporary(std::string_view name);

}  // namespace dsbuild
