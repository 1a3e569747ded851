#include "provenance/bundle_signature.h"

#include <algorithm>

namespace dsbuild {
namespace {

// What Ed25519 gives is the same each time; of ECDSA the signature that is there stays.
bool has_signed(const PublicKey& key, const std::string& statement, const Path& bundle,
                const FileReader& files) {
  const auto signature = load_signature(bundle, files);
  return signature && signature->envelope.payload == statement && is_signed_by(key, signature->envelope);
}

}  // namespace

Result<Statement> load_signed_statement(const Path& bundle, const Manifest& manifest,
                                        const FileReader& files) {
  DSBUILD_TRY(statement, load_checked_statement(bundle, manifest, files));
  const auto link = std::ranges::find_if(statement.subjects, [&](const Subject& subject) {
    return files.own_kind(bundle / subject.name) != FileKind::file;
  });
  if (link == statement.subjects.end()) return statement;
  return fail(Exit::failed, "statement_differs", bundle.string(),
              link->name + " is not a file of the bundle itself",
              "The bundle was changed after its build: get it again from who built it.");
}

Result<SigstoreBundle> load_signature(const Path& bundle, const FileReader& files) {
  const Path file = bundle / k_signature_name;
  if (files.kind(file) != FileKind::file)
    return fail(Exit::failed, "not_signed", bundle.string(), "nobody has signed it",
                "Sign it.\nUsage: dsbuild sign BUNDLE --key FILE");
  DSBUILD_TRY(text, files.read_file(file));
  DSBUILD_TRY(signature, parse_sigstore_bundle(text, file.string()));
  DSBUILD_TRY(statement, read_statement_file(bundle, files));
  const std::string fix =
      "Get the bundle again from its signer, or sign it yourself.\nUsage: dsbuild sign BUNDLE --key FILE";
  if (signature.envelope.payload_type != k_in_toto_type)
    return fail(
        Exit::failed, "bad_signature", file.string(),
        "signs a payload of type " + printable(signature.envelope.payload_type) + ", not " + k_in_toto_type,
        fix);
  if (signature.envelope.payload != statement)
    return fail(Exit::failed, "bad_signature", file.string(),
                std::string("signs a different statement than ") + k_statement_name + " of this bundle", fix);
  return signature;
}

Result<SignedBundle> sign_bundle(const Path& bundle, const PrivateKey& key, FileSystem& files) {
  DSBUILD_TRY(manifest, load_manifest(bundle, files));
  DSBUILD_CHECK(load_signed_statement(bundle, manifest, files));
  DSBUILD_TRY(statement, read_statement_file(bundle, files));
  SignedBundle result{bundle / k_signature_name, key.public_key, false};
  if (has_signed(key.public_key, statement, bundle, files)) return result;
  DSBUILD_TRY(envelope, sign_envelope(k_in_toto_type, std::move(statement), key));
  DSBUILD_CHECK(files.write_file(
      result.file, render_sigstore_bundle({key_hint(key.public_key), std::move(envelope)}), true));
  result.changed = true;
  return result;
}

}  // namespace dsbuild
