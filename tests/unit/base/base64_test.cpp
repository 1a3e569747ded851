#include "base/base64.h"

#include <catch2/catch.hpp>

using namespace dsbuild;
using namespace std::string_literals;

// RFC 4648, section 10.
TEST_CASE("base64 has the values of its standard's test vectors") {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    CHECK(base64(bytes) == text);
    CHECK(base64_decoded(text) == bytes);
    CHECK(base64_decoded(text.substr(0, text.find('='))) == bytes);
  }
}

// python3 -c 'import base64; print(base64.b64encode(bytes([0, 255, 254, 128])))'
TEST_CASE("base64 of all kinds of bytes") {
  CHECK(base64("\0\xff\xfe\x80"s) == "AP/+gA==");
  CHECK(base64_decoded("AP/+gA==") == "\0\xff\xfe\x80"s);
}

TEST_CASE("what is no base64 is refused") {
  for (const char* text : {"Z", "Zm9vY", "Zm9v YmFy", "Zm-_", "Zm=v", "\xff\xff\xff\xff"})
    CHECK_FALSE(base64_decoded(text));
}
