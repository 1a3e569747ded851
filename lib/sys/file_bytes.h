// Reads parts of regular files. Only for lib/sys.
#pragma once

#include <memory>

#include "base/byte_source.h"
#include "base/text.h"
#include "sys/descriptor.h"

namespace dsbuild {

struct OpenFile {
  Descriptor descriptor;
  uint64_t size = 0;  // at the time of opening
};
Result<OpenFile> open_regular_file(const Path& path);

// Reads each part when it is requested; keeps nothing in memory.
Result<std::unique_ptr<ByteSource>> open_bytes(const Path& path);

}  // namespace dsbuild
