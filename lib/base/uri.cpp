#include "base/uri.h"

namespace dsbuild {
namespace {

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string uri_encode(std::string_view text, bool keep_slashes) {
  constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slashes && c == '/')) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', k_digits[byte >> 4], k_digits[byte & 15]};
  }
  return encoded;
}

}  // namespace dsbuild
