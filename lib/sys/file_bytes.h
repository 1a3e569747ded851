// Regular files, opened for reading. Only for lib/sys.
#pragma once

#include <memory>

#include "base/byte_source.h"
#include "base/text.h"
#include "sys/descriptor.h"

namespace dsbuild {

struct OpenFile {
  Descriptor descriptor;
  uint64_t size = 0;  // when it was opened
};
Result<OpenFile> open_regular_file(const Path& path);

// Each part is read when it is asked for: nothing is kept in memory.
Result<std::unique_ptr<ByteSource>> open_bytes(const Path& path);

}  // namespace dsbuild
