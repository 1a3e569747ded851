// Any bytes as a section of HIP's bundles, and as one of SYCL's images.
#include <cstdlib>

#include "binary/intel_image.h"
#include "binary/offload_bundle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dsbuild::MemoryBytes bytes({reinterpret_cast<const std::byte*>(data), size});
  uint64_t stored = 0;
  const auto add = [&](const dsbuild::StoredContainer& images) {
    for (const dsbuild::StoredImage& stored_image : images) {
      const dsbuild::DeviceImage& image = stored_image.image;
      // Every target that is read has a name that dsbuild itself understands.
      if (dsbuild::parse_target_name(image.target.name()) != image.target) std::abort();
      stored += image.bytes;
    }
  };
  if (const auto bundles = dsbuild::read_stored_bundles(bytes, "fuzz"))
    for (const auto& images : *bundles)
      add(images);
  if (const auto images = dsbuild::read_image_sequence(bytes, "fuzz")) add(*images);
  if (stored > size) std::abort();
  return 0;
}
