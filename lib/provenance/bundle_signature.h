// Makes and reads the signature of a bundle, BUNDLE/provenance.sigstore.json. It covers the exact bytes of
// the bundle's statement, which names all other files by their digests (docs/reference/policy.md).
#pragma once

#include "bundle/bundle.h"
#include "provenance/sigstore_bundle.h"
#include "provenance/statement.h"
#include "sys/file_system.h"

namespace dsbuild {

struct SignedBundle {
  Path file;  // the file with the signature
  PublicKey key;
  bool changed = false;  // false: it had this key's signature already
};
// Signs a bundle that the caller has verified against its manifest. Errors, exit 1: those of
// load_signed_statement, of sign and of writing.
Result<SignedBundle> sign_bundle(const Path& bundle, const PrivateKey& key, FileSystem& files);

// Errors, exit 1: `not_signed`; `bad_signature` if it is no signature of the bundle's statement, by any key.
Result<SigstoreBundle> load_signature(const Path& bundle, const FileReader& files);

// The statement to sign or to check, by load_checked_statement. Also an error `statement_differs`: the
// manifest or a library is a symbolic link, which may later lead elsewhere.
Result<Statement> load_signed_statement(const Path& bundle, const Manifest& manifest,
                                        const FileReader& files);

}  // namespace dsbuild
