// HMAC with SHA-256 (RFC 2104), through OpenSSL's libcrypto: for the signatures of requests to AWS.
#pragma once

#include <string>
#include <string_view>

namespace dsbuild {

std::string hmac_sha256(std::string_view key, std::string_view bytes);  // the 32 bytes themselves

}  // namespace dsbuild
