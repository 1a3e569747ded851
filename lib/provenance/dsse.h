// Reads and writes envelopes of DSSE v1 (github.com/secure-systems-lab/dsse): a payload, its type, and
// signatures over both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundle/json_cursor.h"
#include "sys/signing_key.h"

namespace dsbuild {

inline constexpr const char* k_in_toto_type = "application/vnd.in-toto+json";

struct DsseSignature {
  std::string key_id;  // a hint that is not signed; may be ""
  std::string bytes;
  bool operator==(const DsseSignature&) const = default;
};

struct DsseEnvelope {
  std::string payload_type, payload;
  std::vector<DsseSignature> signatures;
  bool operator==(const DsseEnvelope&) const = default;
};

// The bytes that a signature covers (PAE in the specification).
std::string pre_authentication_encoding(std::string_view payload_type, std::string_view payload);

// The name of a key for sigstore's clients: SHA-256 of its DER, in base64.
std::string key_hint(const PublicKey& key);

// Makes an envelope with one signature. Errors: those of sign.
Result<DsseEnvelope> sign_envelope(std::string payload_type, std::string payload, const PrivateKey& key);
// Whether one of its signatures is by this key, whatever its key_id.
bool is_signed_by(const PublicKey& key, const DsseEnvelope& envelope);

Json json_of(const DsseEnvelope& envelope);
DsseEnvelope read_envelope(const JsonCursor& envelope);

}  // namespace dsbuild
