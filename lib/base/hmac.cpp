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

}  // namespace dsbuild
