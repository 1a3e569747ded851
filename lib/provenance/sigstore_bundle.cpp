#include "provenance/sigstore_bundle.h"

namespace dsbuild {
namespace {

constexpr const char* k_media_type = "application/vnd.dev.sigstore.bundle.v0.3+json";
constexpr const char* k_media_types = "application/vnd.dev.sigstore.bundle";  // how all versions' begin

SigstoreBundle read_bundle(const JsonCursor& top) {
  const JsonCursor media_type = top.at("mediaType");
  if (!media_type.text().starts_with(k_media_types)) media_type.refuse("is not a sigstore bundle's");
  SigstoreBundle bundle{"", read_envelope(top.at("dsseEnvelope"))};
  if (const auto key = top.at("verificationMaterial").find("publicKey"))
    if (const auto hint = key->find("hint")) bundle.key_hint = hint->text();
  return bundle;
}

}  // namespace

std::string render_sigstore_bundle(const SigstoreBundle& bundle) {
  return json_text({{"dsseEnvelope", json_of(bundle.envelope)},
                    {"mediaType", k_media_type},
                    {"verificationMaterial",
                     Json{{"publicKey", Json{{"hint", bundle.key_hint}}}, {"tlogEntries", Json::array()}}}});
}

Result<SigstoreBundle> parse_sigstore_bundle(std::string_view json, const std::string& file) {
  return read_json<SigstoreBundle>(json, "bad_signature", file, read_bundle);
}

}  // namespace dsbuild
