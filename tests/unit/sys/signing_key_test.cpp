#include "sys/signing_key.h"

#include <catch2/catch.hpp>

#include "base/base64.h"
#include "support/signing_keys.h"

namespace dsbuild {
namespace {

using samples::from_hex;

struct Vector {
  const char *seed, *public_key, *message, *signature;
};

// RFC 8032, section 7.1: TEST 1, 2 and 3.
const std::vector<Vector> k_vectors = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f"
     "059"
     "5bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2ea"
     "eb4"
     "302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e"
     "971"
     "6ed28dc027beceea1ec40a"}};

// By `openssl pkey` of OpenSSL 3.0, of the seed of TEST 1.
constexpr const char* k_private_pem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* k_public_pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";
constexpr const char* k_rsa_pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MEgCQQCo9+BpMRYQ/dL3DS2CyJxRF+j6ctbT3/Qp84+KeFhnii7NT7fELilKUSnx\n"
    "S30WAvQCCo2yU1orfgqr41mM70MBAgMBAAE=\n"
    "-----END PUBLIC KEY-----\n";
constexpr const char* k_p384_pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE8DK68btPW24k/pHsFVOFmNT1qJ1CcQ/o\n"
    "DKdY9f3Fjvwj0YFLXv31pYP63NMWe4ipFfXs3NLG8uAJN2LNDXHGtYRbI8AQuDMi\n"
    "Ob4pDFkqkBAQcLpoSXP772NJ2NdPufLC\n"
    "-----END PUBLIC KEY-----\n";

}  // namespace

TEST_CASE("signatures are those of RFC 8032") {
  for (const Vector& vector : k_vectors) {
    const PrivateKey key = ed25519_key(vector.seed, vector.public_key);
    const std::string message = from_hex(vector.message), signature = from_hex(vector.signature);
    const auto made = sign(key, message);
    REQUIRE(made);
    CHECK(*made == signature);
    CHECK(is_signed_by(key.public_key, message, signature));
    CHECK_FALSE(is_signed_by(key.public_key, message + "x", signature));
    CHECK_FALSE(is_signed_by({KeyAlgorithm::ed25519, from_hex(k_vectors[0].seed)}, message, signature));
    CHECK_FALSE(is_signed_by(key.public_key, message, signature.substr(1)));
    for (size_t byte = 0; byte < signature.size(); ++byte) {
      std::string damaged = signature;
      damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
      CHECK_FALSE(is_signed_by(key.public_key, message, damaged));
    }
  }
}

TEST_CASE("keys are read as openssl writes them") {
  const auto own = parse_private_key(k_private_pem, "key.pem");
  REQUIRE(own);
  CHECK(*own == ed25519_key(k_vectors[0].seed, k_vectors[0].public_key));
  // sha256sum of the 32 bytes
  CHECK(own->public_key.id() == "21fe31dfa154a261");
  const auto keys =
      parse_public_keys(std::string("# ours\n") + k_public_pem + "\n" + k_public_pem, "keys.pem");
  REQUIRE(keys);
  CHECK(*keys == std::vector<PublicKey>{own->public_key, own->public_key});
}

TEST_CASE("ECDSA on P-256: OpenSSL's signatures count here, and ours are of this message and key alone") {
  const auto own = parse_private_key(k_p256_private_pem, "key.pem");
  REQUIRE(own);
  const auto keys = parse_public_keys(k_p256_public_pem, "key.pub.pem");
  REQUIRE(keys);
  CHECK(*keys == std::vector<PublicKey>{own->public_key});
  // sha256sum of the 65 bytes of the point
  CHECK(own->public_key.id() == "3f26386669cf45e9");
  // openssl dgst -sha256 -sign
  const std::string theirs = from_hex(
      "3046022100a6408a229e134bc5477e9c6e281728a868c1ff9758944dc51427a768c0c5b5e9022100a9a7eca79014476c49c9cb"
      "0e91cbb77f560268df4063175cdacd38eef620e55b");
  CHECK(is_signed_by(own->public_key, "signed by openssl", theirs));
  const auto ours = sign(*own, "message");
  REQUIRE(ours);
  CHECK(is_signed_by(own->public_key, "message", *ours));
  CHECK_FALSE(is_signed_by(own->public_key, "messages", *ours));
  CHECK_FALSE(is_signed_by(k_key_one.public_key, "message", *ours));
  for (size_t byte = 0; byte < ours->size(); ++byte) {
    std::string damaged = *ours;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 1);
    CHECK_FALSE(is_signed_by(own->public_key, "message", damaged));
  }
}

TEST_CASE("a point that is not on the curve is no key") {
  PublicKey key = parse_private_key(k_p256_private_pem, "key.pem")->public_key;
  key.bytes.back() = static_cast<char>(key.bytes.back() ^ 1);
  CHECK_FALSE(is_signed_by(key, "", ""));
  const auto read = parse_public_keys(
      "-----BEGIN PUBLIC KEY-----\n" + base64(key.der()) + "\n-----END PUBLIC KEY-----\n", "key.pub.pem");
  REQUIRE_FALSE(read);
  CHECK(read.error().what == "OpenSSL reads no key in it");
}

TEST_CASE("what is no key is refused, and is not shown") {
  const std::string encrypted =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGb\n-----END ENCRYPTED PRIVATE KEY-----\n";
  std::string damaged = k_private_pem, cut = k_public_pem;
  damaged.erase(damaged.find("REScV"), 4);
  cut.resize(cut.size() - 10);
  for (const std::string& text : {std::string(), std::string("key"), std::string(k_public_pem), encrypted,
                                  damaged, std::string(k_private_pem) + k_private_pem}) {
    const auto key = parse_private_key(text, "key.pem");
    REQUIRE_FALSE(key);
    CHECK(key.error().code == "bad_key");
    CHECK(key.error().where == "key.pem");
    CHECK(key.error().what.find("MC4C") == std::string::npos);
  }
  for (const std::string& text : {std::string(), std::string(k_private_pem), std::string(k_rsa_pem), cut,
                                  std::string(k_public_pem) + k_rsa_pem, std::string(k_p384_pem)}) {
    const auto keys = parse_public_keys(text, "keys.pem");
    REQUIRE_FALSE(keys);
    CHECK(keys.error().code == "bad_key");
  }
}

}  // namespace dsbuild
