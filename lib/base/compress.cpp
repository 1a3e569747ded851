#include "base/compress.h"

#include <zstd.h>

namespace dsbuild {
namespace {

constexpr int k_level = 3;  // docs/dependencies.md has what it gives

}  // namespace

std::optional<std::string> compress(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), k_level);
  if (ZSTD_isError(size) != 0) return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::string> decompress(std::string_view packed, size_t size) {
  // Before memory is taken for it: what the frame says of itself.
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) return std::nullopt;
  std::string bytes(size, '\0');
  if (ZSTD_decompress(bytes.data(), size, packed.data(), packed.size()) != size) return std::nullopt;
  return bytes;
}

}  // namespace dsbuild
