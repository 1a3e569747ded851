// SHA-256 (FIPS 180-4) as 64 lower-case hex digits, through OpenSSL's libcrypto.
#pragma once

#include <string>
#include <string_view>

namespace dsbuild {

std::string sha256(std::string_view bytes);

}  // namespace dsbuild
