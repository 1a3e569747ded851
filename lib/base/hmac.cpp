#include "base/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace dsbuild {

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, 32> code{};
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), code.data(), nullptr);
  return {code.begin(), code.end()};
}

std::string hex_digits(std::string_view bytes) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += k_digits[static_cast<unsigned char>(byte) >> 4];
    text += k_digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

}  // namespace dsbuild
