#include "base/compress.h"

#include <zlib.h>
#include <zstd.h>

namespace dsbuild {
namespace {

constexpr int k_level = 3;  // docs/dependencies.md has what it gives

struct ZlibStream {
  std::string bytes;
  size_t packed_size = 0;
};

std::optional<ZlibStream> unpack_zlib_stream(std::string_view packed, size_t size) {
  ZlibStream stream{std::string(size, '\0'), 0};
  uLongf given = size;
  uLong taken = packed.size();
  const int status = uncompress2(reinterpret_cast<Bytef*>(stream.bytes.data()), &given,
                                 reinterpret_cast<const Bytef*>(packed.data()), &taken);
  if (status != Z_OK || given != size) return std::nullopt;
  stream.packed_size = taken;
  return stream;
}

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

std::optional<size_t> zstd_frame_size(std::string_view bytes) {
  const size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  return ZSTD_isError(size) != 0 ? std::nullopt : std::optional(size);
}

std::optional<size_t> zstd_content_size(std::string_view bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  const bool is_known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
  return is_known ? std::optional(static_cast<size_t>(size)) : std::nullopt;
}

std::optional<std::string> decompress_zlib(std::string_view packed, size_t size) {
  const auto stream = unpack_zlib_stream(packed, size);
  return stream && stream->packed_size == packed.size() ? std::optional(stream->bytes) : std::nullopt;
}

std::optional<size_t> zlib_stream_size(std::string_view bytes, size_t size) {
  const auto stream = unpack_zlib_stream(bytes, size);
  return stream ? std::optional(stream->packed_size) : std::nullopt;
}

}  // namespace dsbuild
