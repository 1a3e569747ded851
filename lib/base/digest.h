// SHA-256 (FIPS 180-4), and MD5 (RFC 1321) for formats of other programs, through OpenSSL's libcrypto.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

std::string sha256(std::string_view bytes);        // 64 lower-case hex digits
std::string sha256_bytes(std::string_view bytes);  // the 32 bytes themselves
bool is_sha256(std::string_view text);             // whether it is 64 hex digits
// The digest of all texts as one, so that long texts need not be joined.
std::string sha256_of_pieces(const std::vector<std::string_view>& pieces);
std::string sha256_urlsafe(std::string_view bytes);  // base64 of RFC 4648 section 5, without padding

std::string hex_digits(std::string_view bytes);  // two for each byte, in lower case

std::string md5(std::string_view bytes);  // the 16 bytes themselves

}  // namespace dsbuild
