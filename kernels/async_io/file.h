// A file opened for one transfer, through the page cache and, where the file system can, past it.
#pragma once

#include <cstdint>
#include <string>

namespace dsbuild::ops {

enum class Direction { read, write };

class File {
 public:
  File() = default;
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Opens it for `length` bytes from `offset`: for reading they must be there; for writing the file is made
  // if it is not there, never cut, and room for them is taken on the disk where the file system can. "" or an
  // error.
  std::string open(const std::string& path, Direction direction, int64_t offset, int64_t length, bool direct);

  // "" or what the system reports only now, of writes that it had accepted.
  std::string close();

  bool has_direct() const { return direct_ >= 0; }
  int descriptor(bool direct) const { return direct ? direct_ : cached_; }

 private:
  int cached_ = -1;
  int direct_ = -1;  // O_DIRECT
};

}  // namespace dsbuild::ops
