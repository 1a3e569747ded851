#include "base/hmac.h"

#include <catch2/catch.hpp>

#include "base/digest.h"

using namespace dsbuild;

// RFC 4231, test cases 1, 2 and 6 (a key longer than a block).
TEST_CASE("HMAC gives the codes of its standard's test suite") {
  CHECK(hex_digits(hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hex_digits(hmac_sha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex_digits(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("a byte is two digits") {
  CHECK(hex_digits(std::string("\0\x7f\xff", 3)) == "007fff");
}
