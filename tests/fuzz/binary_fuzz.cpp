// Any bytes as an object, library, archive, fatbin, cubin or PTX.
#include <cstdlib>

#include "binary/image.h"
#include "binary/kernels.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dsbuild::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto binary = dsbuild::read_binary(bytes, "fuzz");
  (void)dsbuild::read_kernels(dsbuild::MemoryBytes(bytes), "fuzz");
  (void)dsbuild::read_cubin_kernels(bytes, "fuzz");
  // No more images than entries fit into the bytes.
  if (binary && binary->images.size() > size / 64 + 1) std::abort();
  return 0;
}
