// One block of LZ4, as fatbins store it (docs/internals/fatbin.md). Source: lz4_Block_format.md of the LZ4
// project.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

// nullopt unless `packed` is one whole block that gives exactly `size` bytes.
std::optional<std::string> unpack_lz4(std::string_view packed, size_t size);

}  // namespace dsbuild
