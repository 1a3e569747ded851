#include "base/digest.h"

#include <openssl/sha.h>

#include <array>

namespace dsbuild {

std::string sha256(std::string_view bytes) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string text;
  for (const unsigned char byte : digest) {
    text += k_digits[byte >> 4];
    text += k_digits[byte & 15];
  }
  return text;
}

}  // namespace dsbuild
