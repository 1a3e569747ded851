// A sigstore bundle (github.com/sigstore/protobuf-specs, sigstore_bundle.proto) of one DSSE envelope, signed
// with a key that its reader has. There is no certificate of Fulcio's and no entry of Rekor's: both take a
// network (docs/reference/policy.md).
#pragma once

#include "provenance/dsse.h"

namespace dsbuild {

struct SigstoreBundle {
  std::string key_hint;  // as key_hint() makes it; others name keys in other ways
  DsseEnvelope envelope;
  bool operator==(const SigstoreBundle&) const = default;
};

std::string render_sigstore_bundle(const SigstoreBundle& bundle);
// Of any version of the format; unknown keys are passed over. Error: exit 1 `bad_signature`.
Result<SigstoreBundle> parse_sigstore_bundle(std::string_view json, const std::string& file);

}  // namespace dsbuild
