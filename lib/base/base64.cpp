#include "base/base64.h"

#include <cstdint>

namespace dsbuild {
namespace {

constexpr std::string_view k_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;  // of bits that are not written yet
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6)
      text += k_digits[bits >> (count - 6) & 63];
  }
  if (count > 0) text += k_digits[bits << (6 - count) & 63];
  while (text.size() % 4 != 0)
    text += '=';
  return text;
}

std::optional<std::string> base64_decoded(std::string_view text) {
  while (text.ends_with('='))
    text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;  // of bits that are not written yet
  for (const char letter : text) {
    const size_t digit = k_digits.find(letter);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

}  // namespace dsbuild
