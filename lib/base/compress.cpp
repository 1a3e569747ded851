#include "base/compress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <vector>

namespace dsbuild {
namespace {

constexpr int k_level = 3;  // docs/reference/dependencies.md has what it gives
constexpr int k_tight_level = 9;
constexpr int k_most_window_log = 27;
static_assert(size_t{1} << k_most_window_log == k_most_prefixed_bytes);

using Compressor = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;
using Decompressor = std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)>;

// The window has to reach from the end of the bytes to the start of the prefix.
void set_up_for_prefix(ZSTD_CCtx* compressor, std::string_view bytes, std::string_view prefix) {
  ZSTD_CCtx_setParameter(compressor, ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_CCtx_setParameter(compressor, ZSTD_c_windowLog,
                         static_cast<int>(std::bit_width(bytes.size() + prefix.size())));
  ZSTD_CCtx_refPrefix(compressor, prefix.data(), prefix.size());
}

}  // namespace

std::optional<std::string> compress(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), k_level);
  if (ZSTD_isError(size) != 0) return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::string> compress_tightly(std::string_view bytes, std::string_view prefix) {
  if (!prefix.empty() && bytes.size() + prefix.size() >= k_most_prefixed_bytes) return std::nullopt;
  const Compressor compressor(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  if (!compressor) return std::nullopt;
  ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, k_tight_level);
  if (!prefix.empty()) set_up_for_prefix(compressor.get(), bytes, prefix);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size =
      ZSTD_compress2(compressor.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return std::nullopt;
  packed.resize(size);
  return packed;
}

std::optional<std::string> decompress(std::string_view packed, size_t size, std::string_view prefix) {
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size) return std::nullopt;
  const Decompressor decompressor(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (!decompressor) return std::nullopt;
  ZSTD_DCtx_setParameter(decompressor.get(), ZSTD_d_windowLogMax, k_most_window_log);
  ZSTD_DCtx_refPrefix(decompressor.get(), prefix.data(), prefix.size());
  std::string bytes(size, '\0');
  if (ZSTD_decompressDCtx(decompressor.get(), bytes.data(), size, packed.data(), packed.size()) != size)
    return std::nullopt;
  return bytes;
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
  std::string bytes(size, '\0');
  uLongf given = size;
  uLong taken = packed.size();
  const int status = uncompress2(reinterpret_cast<Bytef*>(bytes.data()), &given,
                                 reinterpret_cast<const Bytef*>(packed.data()), &taken);
  if (status != Z_OK || given != size || taken != packed.size()) return std::nullopt;
  return bytes;
}

// What it gives is thrown away piece by piece: `size` may be that of a damaged file.
std::optional<size_t> zlib_stream_size(std::string_view bytes, size_t size) {
  z_stream stream{};
  stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  std::vector<Bytef> piece(1 << 16);
  int status = Z_OK;
  while (status == Z_OK && stream.total_out <= size) {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.total_out == size ? std::optional(stream.total_in) : std::nullopt;
}

}  // namespace dsbuild
