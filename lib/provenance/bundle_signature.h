// The signature of a bundle: BUNDLE/provenance.sigstore.json, over the exact bytes of its statement, which
// names all its other files by their digests (docs/reference/policy.md).
#pragma once

#include "bundle/bundle.h"
#include "provenance/sigstore_bundle.h"
#include "provenance/statement.h"
#include "sys/file_system.h"

namespace dsbuild {

struct SignedBundle {
  Path file;  // that has the signature
  PublicKey key;
  bool changed = false;  // false: this key had signed it already
};
// Of a bundle that is as its manifest says. Errors, exit 1: those of load_signed_statement, of sign and of
// writing.
Result<SignedBundle> sign_bundle(const Path& bundle, const PrivateKey& key, FileSystem& files);

// Errors, exit 1: `not_signed`; `bad_signature` for what is no signature of the bundle's statement, whoever
// made it.
Result<SigstoreBundle> load_signature(const Path& bundle, const FileReader& files);

// What a signature vouches for: load_checked_statement's, of a bundle without a link in the place of its
// manifest or a library, which may lead elsewhere tomorrow (`statement_differs`).
Result<Statement> load_signed_statement(const Path& bundle, const Manifest& manifest,
                                        const FileReader& files);

}  // namespace dsbuild
