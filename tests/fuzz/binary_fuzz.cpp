// Any bytes as an object, library, archive or bare device code of any vendor.
#include <algorithm>
#include <cstdlib>

#include "binary/image.h"
#include "binary/kernels.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dsbuild::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto binary = dsbuild::read_binary(bytes, "fuzz");
  (void)dsbuild::read_kernels(dsbuild::MemoryBytes(bytes), "fuzz");
  (void)dsbuild::read_cubin_kernels(bytes, "fuzz");
  // No more images than entries and modules of SPIR-V fit into the bytes, where none is compressed.
  if (!binary || std::ranges::any_of(binary->images, &dsbuild::DeviceImage::compressed)) return 0;
  if (binary->images.size() > size / 32 + 1) std::abort();
  return 0;
}
