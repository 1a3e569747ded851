// Any bytes as a section of HIP's bundles, as what a compressed bundle holds, and as a section of SYCL's
// images.
#include <algorithm>
#include <cstdlib>

#include "binary/intel_image.h"
#include "binary/offload_bundle.h"
#include "support/offload_bytes.h"

namespace {

using Bundles = dsbuild::Result<std::vector<dsbuild::StoredContainer>>;

Bundles read_bundles(const std::string& bytes) {
  return dsbuild::read_stored_bundles(dsbuild::MemoryBytes(dsbuild::as_bytes_of(bytes)), "fuzz");
}

// The checksum lets no damage through, so what is damaged is compressed here: it has the same images.
void check_compressed(const std::string& plain, const Bundles& bundles) {
  if (plain.size() > 1 << 14 || !plain.starts_with("__CLANG_OFFLOAD_BUNDLE__")) return;
  const auto version = static_cast<unsigned>(plain.size() % 3 + 1),
             method = static_cast<unsigned>(plain.size() / 3 % 2);
  const Bundles packed = read_bundles(dsbuild::samples::packed_bundle(plain, version, method));
  if (packed && packed->size() != 1) std::abort();
  if (!bundles) return;
  if (!packed) std::abort();
  const auto target = [](const dsbuild::StoredImage& stored) { return stored.image.target; };
  if (!std::ranges::equal(bundles->front(), packed->front(), {}, target, target)) std::abort();
}

}  // namespace

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
  const auto bundles = dsbuild::read_stored_bundles(bytes, "fuzz");
  if (bundles)
    for (const auto& images : *bundles)
      add(images);
  check_compressed({reinterpret_cast<const char*>(data), size}, bundles);
  if (const auto images = dsbuild::read_image_sequence(bytes, "fuzz")) add(*images);
  if (stored > size) std::abort();
  return 0;
}
