// Compresses with Zstandard (RFC 8878, libzstd); unpacks that and zlib's format (RFC 1950, zlib).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

std::optional<std::string> compress(std::string_view bytes);  // nullopt: there is no memory for it
// For slow connections: takes three times the time of compress(). `prefix` is a dictionary: its parts that
// occur in `bytes` take almost no room. nullopt: both together exceed k_most_prefixed_bytes.
inline constexpr size_t k_most_prefixed_bytes = size_t{1} << 27;
std::optional<std::string> compress_tightly(std::string_view bytes, std::string_view prefix = {});
// nullopt unless `packed` is exactly one frame that gives `size` bytes.
std::optional<std::string> decompress(std::string_view packed, size_t size);
// Unpacks the output of compress_tightly() with the same prefix.
std::optional<std::string> decompress(std::string_view packed, size_t size, std::string_view prefix);

// The size of the frame at the start of the bytes, by its blocks; nullopt: there is no complete frame.
std::optional<size_t> zstd_frame_size(std::string_view bytes);
// The unpacked size in that frame's header; nullopt: it is not there.
std::optional<size_t> zstd_content_size(std::string_view bytes);

// nullopt unless `packed` is exactly one stream that gives `size` bytes.
std::optional<std::string> decompress_zlib(std::string_view packed, size_t size);

// The size of the stream that the bytes begin with, which gives `size` bytes; nullopt: there is none.
std::optional<size_t> zlib_stream_size(std::string_view bytes, size_t size);

}  // namespace dsbuild
