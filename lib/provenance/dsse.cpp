#include "provenance/dsse.h"

#include <algorithm>

#include "base/base64.h"
#include "base/digest.h"

namespace dsbuild {
namespace {

std::string with_length(std::string_view text) {
  return std::to_string(text.size()) + " " + std::string(text);
}

// Signers may write base64 for URLs; who verifies takes both.
std::string read_bytes(const JsonCursor& text) {
  std::string digits = text.text();
  std::ranges::replace(digits, '-', '+');
  std::ranges::replace(digits, '_', '/');
  const auto bytes = base64_decoded(digits);
  if (!bytes) text.refuse("is not base64");
  return bytes.value_or("");
}

}  // namespace

std::string pre_authentication_encoding(std::string_view payload_type, std::string_view payload) {
  return "DSSEv1 " + with_length(payload_type) + " " + with_length(payload);
}

std::string key_hint(const PublicKey& key) {
  return base64(sha256_bytes(key.der()));
}

Result<DsseEnvelope> sign_envelope(std::string payload_type, std::string payload, const PrivateKey& key) {
  DSBUILD_TRY(signature, sign(key, pre_authentication_encoding(payload_type, payload)));
  return DsseEnvelope{
      std::move(payload_type), std::move(payload), {{key_hint(key.public_key), std::move(signature)}}};
}

bool is_signed_by(const PublicKey& key, const DsseEnvelope& envelope) {
  const std::string text = pre_authentication_encoding(envelope.payload_type, envelope.payload);
  return std::ranges::any_of(envelope.signatures, [&](const DsseSignature& signature) {
    return is_signed_by(key, text, signature.bytes);
  });
}

Json json_of(const DsseEnvelope& envelope) {
  Json signatures = Json::array();
  for (const DsseSignature& signature : envelope.signatures)
    signatures.push_back({{"keyid", signature.key_id}, {"sig", base64(signature.bytes)}});
  return {{"payload", base64(envelope.payload)},
          {"payloadType", envelope.payload_type},
          {"signatures", std::move(signatures)}};
}

DsseEnvelope read_envelope(const JsonCursor& envelope) {
  DsseEnvelope read{envelope.at("payloadType").text(), read_bytes(envelope.at("payload")), {}};
  for (const JsonCursor& signature : envelope.at("signatures").items()) {
    const auto key_id = signature.find("keyid");
    read.signatures.push_back({key_id ? key_id->text() : "", read_bytes(signature.at("sig"))});
  }
  return read;
}

}  // namespace dsbuild
