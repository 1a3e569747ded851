// A file that appears under its name whole or not at all. Only for lib/sys.
#pragma once

#include "sys/descriptor.h"

namespace dsbuild {

// A temporary name next to `path`, which nobody else has.
Path temporary_beside(const Path& path);

class AtomicFile {
 public:
  // Opens a temporary next to `path`; is_open() says whether that worked (errno why not).
  explicit AtomicFile(Path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  // Removes the temporary unless it was committed.
  ~AtomicFile();

  bool is_open() const { return file_.is_open(); }
  int descriptor() const { return file_.number(); }
  // Each returns false with errno set.
  bool write(std::string_view bytes);
  bool commit(unsigned mode, bool durable);

 private:
  Path path_;
  Path temporary_;
  Descriptor file_;
};

}  // namespace dsbuild
