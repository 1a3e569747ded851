#include "cache/entry_file.h"

#include <catch2/catch.hpp>

#include "base/digest.h"

using namespace dsbuild;

namespace {

// sha256 of "key".
const std::string k_key = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683";

ActionResult two_files() {
  return {{{".compute_80.ptx", sha256("first file;"), 11}, {" a name with blanks", sha256("second"), 6}}};
}

std::string large_text() {
  std::string ptx;
  for (int i = 0; i < 100'000; ++i)
    ptx += "mov.u32 %r" + std::to_string(i) + ", %tid.x;\n";
  return ptx;
}

template <class Parse>
void check_no_damage_is_accepted(const std::string& text, const Parse& parse) {
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    INFO("bit " << bit);
    CHECK_FALSE(parse(damaged));
  }
  for (size_t size = 0; size < text.size(); ++size)
    CHECK_FALSE(parse(text.substr(0, size)));
  CHECK_FALSE(parse(text + '\0'));
  CHECK_FALSE(parse(text + text));
}

}  // namespace

TEST_CASE("what tools took is in a line of a result, where it is known") {
  ActionResult result = two_files();
  result.outputs.front().milliseconds = 1234;
  const std::string text = render_result(k_key, result);
  CHECK(text.find(" 11+1234 .compute_80.ptx\n") != std::string::npos);
  CHECK(text.find(" 6  a name with blanks\n") != std::string::npos);
  CHECK(parse_result(k_key, text) == result);
}

TEST_CASE("a blob is what the format says, as other programs write it") {
  // `printf 'first file;second' | zstd --no-check`, the digests by sha256sum.
  const std::string frame = std::string("\x28\xb5\x2f\xfd\x20\x11\x89\x00\x00", 9) + "first file;second";
  const std::string content = "d420be76d4ae3e5df7c04db148b13704ed1ff580ad5c07497cb890d60b4f1002";
  CHECK(parse_blob(content,
                   "56db180be1acbbde294bd485521ed554213b1fca24b6e4f7d9a00cd604f411e5\ndsbuild-blob 1\n" +
                       content + " 17\n" + frame) == "first file;second");
}

TEST_CASE("a result is read as it was written, whatever its files are called") {
  for (const ActionResult& result : {two_files(), ActionResult{}, ActionResult{{{".x", sha256(""), 0}}}})
    CHECK(parse_result(k_key, render_result(k_key, result)) == result);
}

TEST_CASE("a blob is read as it was written, whatever it holds") {
  for (const std::string& bytes :
       {std::string("text"), std::string(), std::string("\0\n\xff", 3), large_text()})
    CHECK(parse_blob(sha256(bytes), *render_blob(sha256(bytes), bytes)) == bytes);
}

TEST_CASE("PTX takes far less room than it has bytes") {
  const std::string ptx = large_text();
  CHECK(render_blob(sha256(ptx), ptx)->size() < ptx.size() / 5);
}

TEST_CASE("no damage of a result or a blob goes unnoticed") {
  check_no_damage_is_accepted(render_result(k_key, two_files()),
                              [](const std::string& text) { return parse_result(k_key, text).has_value(); });
  const std::string digest = sha256("second");
  check_no_damage_is_accepted(*render_blob(digest, "second"),
                              [&](const std::string& text) { return parse_blob(digest, text).has_value(); });
}

TEST_CASE("another key's result and another digest's blob are none, even where a file has that name") {
  std::string other = k_key;
  other[0] = '3';
  CHECK_FALSE(parse_result(other, render_result(k_key, two_files())));
  CHECK_FALSE(parse_blob(sha256("x"), *render_blob(sha256("y"), "y")));
}
