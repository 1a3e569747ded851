// Zstandard (RFC 8878), through libzstd.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

std::optional<std::string> compress(std::string_view bytes);  // nullopt: there is no memory for it
// nullopt unless `packed` is exactly one frame that gives `size` bytes.
std::optional<std::string> decompress(std::string_view packed, size_t size);

}  // namespace dsbuild
