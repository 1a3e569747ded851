// Reads and writes a sigstore bundle (github.com/sigstore/protobuf-specs, sigstore_bundle.proto) with one
// DSSE envelope. Its reader must have the public key. There is no Fulcio certificate and no Rekor entry,
// because both need a network (docs/reference/policy.md).
#pragma once

#include "provenance/dsse.h"

namespace dsbuild {

struct SigstoreBundle {
  std::string key_hint;  // by key_hint(); other programs may name keys differently
  DsseEnvelope envelope;
  bool operator==(const SigstoreBundle&) const = default;
};

std::string render_sigstore_bundle(const SigstoreBundle& bundle);
// Accepts any version of the format, and ignores unknown keys. Error: exit 1 `bad_signature`.
Result<SigstoreBundle> parse_sigstore_bundle(std::string_view json, const std::string& file);

}  // namespace dsbuild
