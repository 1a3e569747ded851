#include "provenance/dsse.h"

#include <catch2/catch.hpp>

#include "provenance/sigstore_bundle.h"
#include "support/signing_keys.h"

namespace dsbuild {
namespace {

SigstoreBundle signed_bundle(const PrivateKey& key = k_key_one) {
  auto envelope = sign_envelope(k_in_toto_type, "{}\n", key);
  REQUIRE(envelope);
  return {key_hint(key.public_key), std::move(*envelope)};
}

std::string with(std::string json, const std::string& what, const std::string& instead) {
  const size_t at = json.find(what);
  REQUIRE(at != std::string::npos);
  return json.replace(at, what.size(), instead);
}

Error refusal_of(const std::string& json) {
  const auto read = parse_sigstore_bundle(json, "s.json");
  REQUIRE_FALSE(read);
  CHECK(read.error().code == "bad_signature");
  CHECK(read.error().where == "s.json");
  return read.error();
}

}  // namespace

TEST_CASE("What is signed is the specification's example") {
  CHECK(pre_authentication_encoding("http://example.com/HelloWorld", "hello world") ==
        "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  CHECK(pre_authentication_encoding("", "") == "DSSEv1 0  0 ");
  // No other type and payload give the same text.
  CHECK(pre_authentication_encoding("a", "b 1 c") != pre_authentication_encoding("a 5 b", "c"));
}

TEST_CASE("A signature is over type and payload, by one key") {
  const DsseEnvelope envelope = signed_bundle().envelope;
  CHECK(is_signed_by(k_key_one.public_key, envelope));
  CHECK_FALSE(is_signed_by(k_key_two.public_key, envelope));
  DsseEnvelope other = envelope;
  other.payload += " ";
  CHECK_FALSE(is_signed_by(k_key_one.public_key, other));
  other = envelope;
  other.payload_type = "text/plain";
  CHECK_FALSE(is_signed_by(k_key_one.public_key, other));
  other = envelope;
  other.signatures.clear();
  CHECK_FALSE(is_signed_by(k_key_one.public_key, other));
}

TEST_CASE("Of several signatures each counts, and a key's name does not matter") {
  DsseEnvelope both = signed_bundle(k_key_two).envelope;
  both.signatures.push_back({"", signed_bundle().envelope.signatures[0].bytes});
  both.signatures[0].key_id = "somebody else";
  CHECK(is_signed_by(k_key_one.public_key, both));
  CHECK(is_signed_by(k_key_two.public_key, both));
}

TEST_CASE("A sigstore bundle is read as it is written") {
  const SigstoreBundle bundle = signed_bundle();
  const std::string text = render_sigstore_bundle(bundle);
  CHECK(text.ends_with("}\n"));
  const auto read = parse_sigstore_bundle(text, "s.json");
  REQUIRE(read);
  CHECK(*read == bundle);
  // base64 of openssl's SHA-256 of the DER
  CHECK(bundle.key_hint == "BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k=");
}

TEST_CASE("Other writers' bundles: older versions, base64 for URLs, no key's name, keys of their own") {
  const SigstoreBundle bundle = signed_bundle();
  std::string text = render_sigstore_bundle(bundle);
  for (const char* type : {"application/vnd.dev.sigstore.bundle+json;version=0.1",
                           "application/vnd.dev.sigstore.bundle+json;version=0.3"})
    CHECK(parse_sigstore_bundle(with(text, "application/vnd.dev.sigstore.bundle.v0.3+json", type), "s.json"));
  std::string urls = text;
  const size_t at = urls.find("\"sig\"");
  for (size_t i = at; i < urls.size(); ++i)
    urls[i] = urls[i] == '+' ? '-' : urls[i] == '/' && urls[i - 1] != ' ' ? '_' : urls[i];
  const auto read =
      parse_sigstore_bundle(with(urls, "\"mediaType\"", "\"more\": 1, \"mediaType\""), "s.json");
  if (read) CHECK(read->envelope == bundle.envelope);
  const auto anonymous = parse_sigstore_bundle(with(text, "\"keyid\"", "\"key\""), "s.json");
  REQUIRE(anonymous);
  CHECK(anonymous->envelope.signatures[0].key_id.empty());
}

TEST_CASE("What is no bundle of an envelope is refused by its place") {
  const std::string text = render_sigstore_bundle(signed_bundle());
  CHECK(refusal_of("{").what == "is not valid JSON");
  CHECK(refusal_of("[]").what == "the document is not an object");
  CHECK(refusal_of(with(text, "dsseEnvelope", "messageSignature")).what == "dsseEnvelope is missing");
  CHECK(refusal_of(with(text, "sigstore.bundle", "sigstore.other")).what ==
        "mediaType is not a sigstore bundle's");
  CHECK(refusal_of(with(text, "\"payload\": \"", "\"payload\": \"*")).what ==
        "dsseEnvelope.payload is not base64");
  CHECK(refusal_of(with(text, "\"sig\": \"", "\"sig\": \"*")).what ==
        "dsseEnvelope.signatures[0].sig is not base64");
}

}  // namespace dsbuild
