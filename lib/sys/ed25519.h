// Signatures by Ed25519 (RFC 8032), through OpenSSL's EVP. libcrypto is loaded when a key is read, as libcurl
// is: linked in statically, OpenSSL 3 would make the program 3.8 MB larger. Keys are PEM (RFC 8410), as
// `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dsbuild {

struct Ed25519PublicKey {
  std::string bytes;  // 32 of them
  // For messages: the first 16 hex digits of the bytes' SHA-256.
  std::string id() const;
  bool operator==(const Ed25519PublicKey&) const = default;
};

struct Ed25519PrivateKey {
  std::string seed;  // 32 bytes, secret
  Ed25519PublicKey public_key;
  bool operator==(const Ed25519PrivateKey&) const = default;
};

// All public keys of the text. `where`: the file, for errors. Errors: exit 2, code `bad_remote_key`, where
// there is none, or one of another kind; exit 3, code `no_libcrypto`, where no libcrypto of 1.1.1 or newer
// can be loaded.
Result<std::vector<Ed25519PublicKey>> parse_public_keys(std::string_view pem, const std::string& where);
// Exactly one, without a passphrase. Errors as above.
Result<Ed25519PrivateKey> parse_private_key(std::string_view pem, const std::string& where);

// 64 bytes. Error: exit 1, code `internal`, where OpenSSL fails.
Result<std::string> sign(const Ed25519PrivateKey& key, std::string_view message);
// Whether the 64 bytes are a signature of the message by this key.
bool is_signed_by(const Ed25519PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace dsbuild
