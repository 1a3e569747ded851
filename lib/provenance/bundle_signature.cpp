#include "provenance/bundle_signature.h"

#include "base/digest.h"
#include "provenance/statement.h"

namespace dsbuild {
namespace {

void check_text(const JsonCursor& text, const std::string& expected) {
  if (text.text() != expected) text.refuse("is not " + expected);
}

SignedStatement read_signed_statement(const JsonCursor& top) {
  check_text(top.at("_type"), k_statement_type);
  check_text(top.at("predicateType"), k_predicate_type);
  SignedStatement statement;
  for (const JsonCursor& subject : top.at("subject").items()) {
    const JsonCursor name = subject.at("name");
    if (!statement.subjects.try_emplace(name.text(), subject.at("digest").at("sha256").text()).second)
      name.refuse("is there twice");
  }
  const JsonCursor run = top.at("predicate").at("runDetails");
  statement.builder = run.at("builder").at("id").text();
  const auto metadata = run.find("metadata");
  const auto finished = metadata ? metadata->find("finishedOn") : std::nullopt;
  if (finished) statement.finished = finished->text();
  return statement;
}

Result<std::string> read_statement_file(const Path& bundle, const FileReader& files) {
  const Path file = bundle / k_statement_name;
  if (files.kind(file) == FileKind::file) return files.read_file(file);
  return fail(Exit::failed, "no_statement", bundle.string(),
              std::string("holds no ") + k_statement_name + ", so nobody says how it was made",
              "Build it again: an older dsbuild wrote none.");
}

tl::unexpected<Error> differs(const Path& bundle, const std::string& what) {
  return fail(Exit::failed, "statement_differs", bundle.string(), what,
              "The bundle was changed after its build: get it again from who built it.");
}

Result<void> check_file(const SignedStatement& statement, const Path& bundle, const std::string& name,
                        const FileReader& files) {
  const auto subject = statement.subjects.find(name);
  if (subject == statement.subjects.end())
    return differs(bundle, std::string(k_statement_name) + " does not name " + name);
  if (files.own_kind(bundle / name) != FileKind::file)
    return differs(bundle, name + " is no file of the bundle itself");
  DSBUILD_TRY(bytes, files.read_file(bundle / name));
  if (sha256(bytes) == subject->second) return {};
  return differs(bundle, name + " is not the file that " + k_statement_name + " names: its sha256 differs");
}

// What Ed25519 gives is the same each time; of ECDSA the signature that is there stays.
bool has_signed(const PublicKey& key, const std::string& statement, const Path& bundle,
                const FileReader& files) {
  const auto signature = load_signature(bundle, files);
  return signature && signature->envelope.payload == statement && is_signed_by(key, signature->envelope);
}

}  // namespace

Result<SignedStatement> parse_signed_statement(std::string_view json, const std::string& file) {
  return read_json<SignedStatement>(json, "bad_statement", file, read_signed_statement);
}

Result<SignedStatement> load_checked_statement(const Path& bundle, const Manifest& manifest,
                                               const FileReader& files) {
  DSBUILD_TRY(text, read_statement_file(bundle, files));
  DSBUILD_TRY(statement, parse_signed_statement(text, (bundle / k_statement_name).string()));
  DSBUILD_CHECK(check_file(statement, bundle, k_manifest_name, files));
  for (const ManifestOp& op : manifest.ops)
    DSBUILD_CHECK(check_file(statement, bundle, op.file, files));
  if (statement.subjects.size() == manifest.ops.size() + 1) return statement;
  return differs(bundle, std::string(k_statement_name) + " names files that the bundle does not have");
}

Result<SigstoreBundle> load_signature(const Path& bundle, const FileReader& files) {
  const Path file = bundle / k_signature_name;
  if (files.kind(file) != FileKind::file)
    return fail(Exit::failed, "not_signed", bundle.string(), "nobody has signed it",
                "Usage: dsbuild sign BUNDLE --key FILE");
  DSBUILD_TRY(text, files.read_file(file));
  DSBUILD_TRY(signature, parse_sigstore_bundle(text, file.string()));
  DSBUILD_TRY(statement, read_statement_file(bundle, files));
  const std::string fix =
      "Get the bundle again from who signed it, or sign it.\nUsage: dsbuild sign BUNDLE --key FILE";
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
  DSBUILD_CHECK(load_checked_statement(bundle, manifest, files));
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
