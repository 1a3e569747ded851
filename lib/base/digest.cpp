#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

namespace dsbuild {
namespace {

using Sha256 = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Sha256 digest_of(std::string_view bytes) {
  Sha256 digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest_of(bytes)) {
    text += k_digits[byte >> 4];
    text += k_digits[byte & 15];
  }
  return text;
}

std::string sha256_urlsafe(std::string_view bytes) {
  const Sha256 digest = digest_of(bytes);
  std::array<unsigned char, 4 * (SHA256_DIGEST_LENGTH / 3 + 1) + 1> encoded{};  // and a final NUL
  EVP_EncodeBlock(encoded.data(), digest.data(), SHA256_DIGEST_LENGTH);
  std::string text(encoded.begin(), std::find(encoded.begin(), encoded.end(), '='));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

}  // namespace dsbuild
