// Any bytes as an object, library, archive, fatbin, cubin or PTX.
#include <cstdlib>

#include "binary/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto binary = dsbuild::read_binary({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  // No more images than entries fit into the bytes.
  if (binary && binary->images.size() > size / 64 + 1) std::abort();
  return 0;
}
