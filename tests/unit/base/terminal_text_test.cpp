#include <catch2/catch.hpp>

#include "base/json.h"
#include "base/text.h"

using namespace dsbuild;

namespace {

// What a terminal obeys, as it could be read again; the bytes are from the standards (ECMA-48, Unicode).
const std::string k_obeyed[] = {"\x1b[31m",
                                "\x1b]0;t\a",
                                "\x1b",
                                "\r",
                                "\b",
                                "\x7f",
                                "\xc2\x80",
                                "\xc2\x9b"
                                "31m",
                                "\xc2\x9f",
                                "\x9b",
                                "\x80",
                                "\x9f",
                                "\xe2\x80\xaa",
                                "\xe2\x80\xae",
                                "\xe2\x81\xa6",
                                "\xe2\x81\xa9",
                                std::string(1, '\0')};

bool is_harmless(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return false;
    const std::string_view two = text.substr(i, 2), three = text.substr(i, 3);
    if (two >= "\xc2\x80" && two <= "\xc2\x9f" && two.size() == 2) return false;
    if (three >= "\xe2\x80\xaa" && three <= "\xe2\x80\xae" && three.size() == 3) return false;
    if (three >= "\xe2\x81\xa6" && three <= "\xe2\x81\xa9" && three.size() == 3) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("printable removes escape sequences and control characters") {
  CHECK(printable("\x1b[01;31merror:\x1b[0m no\tway\n") == "error: no\tway\n");
  CHECK(printable("\x1b]0;title\a text") == " text");
  CHECK(printable("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\") == "link");
  CHECK(printable("a\rb\x07\x7f"
                  "c") == "abc");
  CHECK(printable("\x1b(Bok") == "ok");
  CHECK(printable("\xc2\x9b"
                  "31mred") == "31mred");
  CHECK(printable("\xc3\xa9\xe4\xb8\x96") == "\xc3\xa9\xe4\xb8\x96");
  CHECK(printable("cut\x1b").size() == 3);
  CHECK(printable("cut\x1b[3").size() == 3);
}

TEST_CASE("printable leaves a tool its colours where they are wanted, and nothing else") {
  CHECK(printable("\x1b[01;31m\x1b[Kerror\x1b[m\x1b[K", Colours::kept) == "\x1b[01;31merror\x1b[m");
  CHECK(printable("\x1b[38;2;1;2;3mx\x1b[2J\x1b[?25l", Colours::kept) == "\x1b[38;2;1;2;3mx");
}

TEST_CASE("visible shows what a terminal would obey") {
  CHECK(visible("a\x1b[31mb\r\n\tc") == "a\\x1b[31mb\\x0d\n\tc");
  CHECK(visible("\xc2\x9b"
                "31m \xe2\x80\xae \x7f") == "\\u009b31m \\u202e \\x7f");
  CHECK(visible("\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80") == "\xc3\xa9 \xe4\xb8\x96 \xf0\x9f\x98\x80");
}

TEST_CASE("visible shows bytes that are no UTF-8") {
  CHECK(visible("\x9b"
                "31m\xe9") == "\\x9b31m\\xe9");
  CHECK(visible("\xe2\x80") == "\\xe2\\x80");                    // cut
  CHECK(visible("\xc0\x9b") == "\\xc0\\x9b");                    // too long a form of ESC
  CHECK(visible("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(visible("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // behind the last character
}

TEST_CASE("visible leaves the colours of messages where they are wanted, and no others") {
  const std::string own = "\x1b[1ma\x1b[0m\x1b[91mb\x1b[0m";
  CHECK(visible(own, Colours::kept) == own);
  CHECK(visible("\x1b[8mhidden\x1b[2J\x1b[1;31m", Colours::kept) == "\\x1b[8mhidden\\x1b[2J\\x1b[1;31m");
}

TEST_CASE("Nothing of what a terminal obeys is left, whole or in pieces") {
  for (const std::string& text : k_obeyed) {
    REQUIRE_FALSE((is_harmless(text) && text != "\x9b" && text != "\x80" && text != "\x9f"));
    CHECK(is_harmless(visible("a" + text + "b")));
    CHECK(is_harmless(printable("a" + text + "b")));
    for (size_t at = 0; at <= text.size(); ++at) {
      const std::string first = text.substr(0, at), rest = text.substr(at);
      CHECK(is_harmless(visible(first) + visible(rest)));
      CHECK(is_harmless(printable(first) + printable(rest)));
    }
  }
}

TEST_CASE("JSON holds what a terminal or GitHub's runner obeys as escapes, and reads as the same text") {
  for (const std::string& text : k_obeyed) {
    const std::string written = Json{{"name", text}}.dump();
    CHECK(is_harmless(written));
    CHECK(visible(written) == written);
    const bool is_utf8 =
        visible(text).find("\\x9") == std::string::npos && visible(text).find("\\x80") == std::string::npos;
    if (is_utf8) CHECK(*Json::parse(written)->find("name")->text() == text);
  }
  CHECK(Json("\x1b[31m").dump() == "\"\\u001b[31m\"");
  CHECK(Json("##[error]x").dump() == "\"##\\u005berror]x\"");
  CHECK(*Json::parse(Json("##[error]x").dump())->text() == "##[error]x");
}
