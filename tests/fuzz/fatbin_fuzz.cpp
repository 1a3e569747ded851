// Any bytes as the device code section of a file.
#include <cstdlib>

#include "binary/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto containers = dsbuild::read_fatbins({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!containers) return 0;
  for (const auto& container : *containers) {
    for (const auto& image : container) {
      // Every target that is read has a name that dsbuild itself understands.
      if (dsbuild::parse_target_name(image.target.name()) != image.target) std::abort();
    }
  }
  return 0;
}
