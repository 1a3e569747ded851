// Keys for tests: those of published examples, and one of OpenSSL's. No secret of anybody's.
#pragma once

#include <string>

#include "support/hex.h"
#include "sys/signing_key.h"

namespace dsbuild {

// RFC 8410: what stands before the 32 bytes.
inline PrivateKey ed25519_key(std::string_view seed, std::string_view public_bytes) {
  return {samples::from_hex("302e020100300506032b657004220420") + samples::from_hex(seed),
          {KeyAlgorithm::ed25519, samples::from_hex(public_bytes)}};
}

// RFC 8032, section 7.1, TEST 1 and TEST 2.
inline const PrivateKey k_key_one =
    ed25519_key("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
inline const PrivateKey k_key_two =
    ed25519_key("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");

// `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`, of OpenSSL 3.0.
inline constexpr const char* k_p256_private_pem =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXHKaSE7fcMznI3q8\n"
    "ti6AAhO2Yusea2Mkef/DbD1Q2UahRANCAATmmUqyJc3HLESfsiBADqJ4aSFPqp0k\n"
    "rwG1wP75G+FM0gSDdxgkYrY+dgik53DibTWfNRn1VHGo5QuYlOX9lYX3\n"
    "-----END PRIVATE KEY-----\n";
inline constexpr const char* k_p256_public_pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE5plKsiXNxyxEn7IgQA6ieGkhT6qd\n"
    "JK8BtcD++RvhTNIEg3cYJGK2PnYIpOdw4m01nzUZ9VRxqOULmJTl/ZWF9w==\n"
    "-----END PUBLIC KEY-----\n";

}  // namespace dsbuild
