#include "base/digest.h"

#include <catch2/catch.hpp>

using namespace dsbuild;
using namespace std::string_literals;

// The values are those of FIPS 180-4's own examples.
TEST_CASE("sha256 gives the digests of the standard's examples") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(sha256_of_pieces({"a", "", "bc"}) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// python3 -c 'import base64, hashlib; print(base64.urlsafe_b64encode(hashlib.sha256(b"abc").digest()))'
TEST_CASE("The form for file lists is URL-safe base64 without padding") {
  CHECK(sha256_urlsafe("abc") == "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
  CHECK(sha256_urlsafe("") == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
}

// RFC 1321, A.5.
TEST_CASE("md5 gives the digests of its standard's test suite") {
  CHECK(md5("") == "\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e"s);
  CHECK(md5("message digest") == "\xf9\x6b\x69\x7d\x7c\xb7\x93\x8d\x52\x5a\x2f\x31\xaa\xf1\x61\xd0"s);
}
