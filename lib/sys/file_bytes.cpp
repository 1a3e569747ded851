#include "sys/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace dsbuild {
namespace {

// By pread and not by a mapping: a file that becomes shorter meanwhile is an error and no signal, and a page
// of which a few bytes are looked at does not bring its neighbours into memory.
class FileBytes : public ByteSource {
 public:
  FileBytes(OpenFile file, Path path) : file_(std::move(file)), path_(std::move(path)) {}
  uint64_t size() const override { return file_.size; }

  Result<std::string> read(uint64_t offset, uint64_t size) const override {
    std::string bytes(static_cast<size_t>(size), '\0');
    size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::pread(file_.descriptor.number(), bytes.data() + done, bytes.size() - done,
                                    static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return io_error(path_, "reading", errno);
      if (count == 0)
        return fail(Exit::failed, "io", path_.string(), "reading: it became shorter while it was read");
      done += static_cast<size_t>(count);
    }
    return bytes;
  }

 private:
  OpenFile file_;
  Path path_;
};

}  // namespace

Result<OpenFile> open_regular_file(const Path& path) {
  // Non-blocking: a pipe that stands where a file should be must not stop the program.
  Descriptor file = open_file(path, O_RDONLY | O_NONBLOCK);
  struct stat status{};
  if (!file.is_open() || ::fstat(file.number(), &status) != 0) return io_error(path, "reading", errno);
  if (S_ISDIR(status.st_mode)) return io_error(path, "reading", EISDIR);
  if (!S_ISREG(status.st_mode)) return fail(Exit::failed, "io", path.string(), "reading: not a regular file");
  return OpenFile{std::move(file), static_cast<uint64_t>(status.st_size)};
}

Result<std::unique_ptr<ByteSource>> open_bytes(const Path& path) {
  DSBUILD_TRY(file, open_regular_file(path));
  return std::make_unique<FileBytes>(std::move(file), path);
}

}  // namespace dsbuild
