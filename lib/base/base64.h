// Base64 with the usual alphabet (RFC 4648 section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

std::string base64(std::string_view bytes);  // with padding
// With or without padding; nullopt: it is none.
std::optional<std::string> base64_decoded(std::string_view text);

}  // namespace dsbuild
