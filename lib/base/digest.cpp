// SHA256() of OpenSSL 3 reads its configuration and looks for a provider, which takes a millisecond of each
// process; the functions of 1.1 do not. They also know MD5 where a provider may not have it.
#define OPENSSL_API_COMPAT 0x10100000L

#include "base/digest.h"

#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

namespace dsbuild {
namespace {

using Sha256 = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Sha256 digest_of(const std::vector<std::string_view>& pieces) {
  Sha256 digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  for (const std::string_view piece : pieces)
    SHA256_Update(&context, piece.data(), piece.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}

}  // namespace

std::string sha256(std::string_view bytes) {
  return sha256_of_pieces({bytes});
}

std::string sha256_bytes(std::string_view bytes) {
  const Sha256 digest = digest_of({bytes});
  return {digest.begin(), digest.end()};
}

bool is_sha256(std::string_view text) {
  return text.size() == 2 * SHA256_DIGEST_LENGTH &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string sha256_of_pieces(const std::vector<std::string_view>& pieces) {
  const Sha256 digest = digest_of(pieces);
  return hex_digits({reinterpret_cast<const char*>(digest.data()), digest.size()});
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

std::string sha256_urlsafe(std::string_view bytes) {
  const Sha256 digest = digest_of({bytes});
  std::array<unsigned char, 4 * (SHA256_DIGEST_LENGTH / 3 + 1) + 1> encoded{};  // and a final NUL
  EVP_EncodeBlock(encoded.data(), digest.data(), SHA256_DIGEST_LENGTH);
  std::string text(encoded.begin(), std::find(encoded.begin(), encoded.end(), '='));
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::string md5(std::string_view bytes) {
  std::array<unsigned char, MD5_DIGEST_LENGTH> digest{};
  MD5_CTX context;
  MD5_Init(&context);
  MD5_Update(&context, bytes.data(), bytes.size());
  MD5_Final(digest.data(), &context);
  return {digest.begin(), digest.end()};
}

}  // namespace dsbuild
