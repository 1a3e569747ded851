// Zstandard (RFC 8878), through libzstd, and what others wrote in zlib's format (RFC 1950), through zlib.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

std::optional<std::string> compress(std::string_view bytes);  // nullopt: there is no memory for it
// For a slow way: three times the time of compress(). Parts of `prefix` that are in `bytes` take almost no
// room. Together they are at most k_most_prefixed_bytes, else nullopt.
inline constexpr size_t k_most_prefixed_bytes = size_t{1} << 27;
std::optional<std::string> compress_tightly(std::string_view bytes, std::string_view prefix = {});
// nullopt unless `packed` is exactly one frame that gives `size` bytes.
std::optional<std::string> decompress(std::string_view packed, size_t size);
// What compress_tightly() made with this prefix.
std::optional<std::string> decompress(std::string_view packed, size_t size, std::string_view prefix);

// The size of the frame that the bytes begin with, by its blocks; nullopt where there is no whole one.
std::optional<size_t> zstd_frame_size(std::string_view bytes);
// What that frame says that it gives; nullopt where it does not say.
std::optional<size_t> zstd_content_size(std::string_view bytes);

// nullopt unless `packed` is exactly one stream that gives `size` bytes.
std::optional<std::string> decompress_zlib(std::string_view packed, size_t size);

// The size of the stream that the bytes begin with, which gives `size` bytes; nullopt where there is none.
std::optional<size_t> zlib_stream_size(std::string_view bytes, size_t size);

}  // namespace dsbuild
