// Keys that sign, and their signatures, for all that is signed: entries of a shared cache, and provenance of
// bundles. Ed25519 (RFC 8032) and ECDSA on P-256 with SHA-256 (FIPS 186-5), through OpenSSL's EVP. libcrypto
// is loaded when a key is read, as libcurl is: linked in statically, OpenSSL 3 would make the program 3.8 MB
// larger. Keys are PEM, as `openssl genpkey` and `openssl pkey -pubout` write them: PKCS #8 without a
// passphrase (RFC 5958), and SubjectPublicKeyInfo (RFC 5480, RFC 8410).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/file_system.h"

namespace dsbuild {

enum class KeyAlgorithm { ed25519, ecdsa_p256 };

struct PublicKey {
  KeyAlgorithm algorithm = KeyAlgorithm::ed25519;
  std::string bytes;  // 32 of Ed25519; 65 of P-256, a point that is not compressed
  // For messages and lists of keys: the first 16 hex digits of the bytes' SHA-256.
  std::string id() const;
  std::string der() const;  // SubjectPublicKeyInfo
  bool operator==(const PublicKey&) const = default;
};

struct PrivateKey {
  std::string der;  // PKCS #8, secret
  PublicKey public_key;
  bool operator==(const PrivateKey&) const = default;
};

// All public keys of the text. `where`: the file, for errors. Errors: exit 2, with this code, where there is
// none, or one of another kind; exit 3, code `no_libcrypto`, where no libcrypto of 1.1.1 or newer can be
// loaded.
Result<std::vector<PublicKey>> parse_public_keys(std::string_view pem, const std::string& where,
                                                 MessageCode code = "bad_key");
// Exactly one, without a passphrase. Errors as above.
Result<PrivateKey> parse_private_key(std::string_view pem, const std::string& where,
                                     MessageCode code = "bad_key");

// That of the file. Errors besides those: of reading.
Result<PrivateKey> load_private_key(const Path& file, const FileReader& files, MessageCode code = "bad_key");

// 64 bytes of Ed25519; of ECDSA, which draws a random number, DER of other bytes each time. Error: exit 1,
// code `internal`, where OpenSSL fails.
Result<std::string> sign(const PrivateKey& key, std::string_view message);
// Whether the bytes are a signature of the message by this key.
bool is_signed_by(const PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace dsbuild
