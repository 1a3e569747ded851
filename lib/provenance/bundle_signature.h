// The signature of a bundle: BUNDLE/provenance.sigstore.json, over the exact bytes of its statement, which
// names all its other files by their digests (docs/reference/policy.md).
#pragma once

#include <map>

#include "bundle/bundle.h"
#include "provenance/sigstore_bundle.h"
#include "sys/file_system.h"

namespace dsbuild {

struct SignedBundle {
  Path file;  // that has the signature
  PublicKey key;
  bool changed = false;  // false: this key had signed it already
};
// Errors, exit 1: `no_statement` where the bundle has none, `statement_differs` where it names other bytes
// than the bundle has, those of sign and of writing.
Result<SignedBundle> sign_bundle(const Path& bundle, const PrivateKey& key, FileSystem& files);

// Errors, exit 1: `not_signed`; `bad_signature` for what is no signature of the bundle's statement, whoever
// made it.
Result<SigstoreBundle> load_signature(const Path& bundle, const FileReader& files);

// The part of a statement that policies ask about.
struct SignedStatement {
  std::map<std::string, std::string> subjects;  // file -> SHA-256
  std::string builder, finished;                // finished: "2026-11-25T10:47:02Z"
};
// Error: exit 1 `bad_statement`.
Result<SignedStatement> parse_signed_statement(std::string_view json, const std::string& file);

// The statement of the bundle, whose subjects are the bundle's files as they are: manifest.json and each
// library, none of them a link that may lead elsewhere tomorrow. Errors, exit 1: `no_statement`,
// `bad_statement`, `statement_differs`.
Result<SignedStatement> load_checked_statement(const Path& bundle, const Manifest& manifest,
                                               const FileReader& files);

}  // namespace dsbuild
