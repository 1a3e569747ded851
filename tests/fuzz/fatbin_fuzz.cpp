// Any bytes as the device code section of a file.
#include <cstdlib>

#include "binary/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto containers =
      dsbuild::read_fatbins(dsbuild::MemoryBytes({reinterpret_cast<const std::byte*>(data), size}), "fuzz");
  if (!containers) return 0;
  uint64_t stored = 0;
  for (const auto& container : *containers) {
    for (const auto* images : {&container.images, &container.tile_images}) {
      for (const auto& image : *images) {
        // Every target that is read has a name that dsbuild itself understands.
        if (dsbuild::parse_target_name(image.target.name()) != image.target) std::abort();
        stored += image.bytes;
      }
    }
  }
  if (stored > size) std::abort();
  return 0;
}
