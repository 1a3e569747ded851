#include "cache/entry_file.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

// sha256 of "key".
const std::string k_key = "2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683";
const StoreEntry k_two_files = {{".compute_80.ptx", "first file;"}, {".compute_80.cubin", "second"}};

// Made by the programs zstd and sha256sum.
std::string entry_of_other_programs() {
  const std::string frame = std::string("\x28\xb5\x2f\xfd\x20\x11\x89\x00\x00", 9) + "first file;second";
  return "182ac1c2025d48cd14dc4292930aadd6ac4e5eccb815aa2f1d1aef300f4c713f\ndsbuild-store 1\n" + k_key +
         "\n11 .compute_80.ptx\n6 .compute_80.cubin\n\n" + frame;
}

StoreEntry large_entry() {
  std::string ptx;
  for (int i = 0; i < 100'000; ++i)
    ptx += "mov.u32 %r" + std::to_string(i) + ", %tid.x;\n";
  return {{".ptx", ptx}, {".empty", ""}, {" a name with blanks", std::string("\0\n\xff", 3)}};
}

}  // namespace

TEST_CASE("an entry is what the format says, as other programs write it") {
  CHECK(parse_entry(k_key, entry_of_other_programs()) == k_two_files);
}

TEST_CASE("an entry is read as it was written, whatever its files hold") {
  for (const StoreEntry& entry : {k_two_files, large_entry(), StoreEntry{}, StoreEntry{{".x", ""}}}) {
    const auto text = render_entry(k_key, entry);
    REQUIRE(text);
    CHECK(parse_entry(k_key, *text) == entry);
  }
}

TEST_CASE("PTX takes far less room than it has bytes") {
  const StoreEntry entry = large_entry();
  CHECK(render_entry(k_key, entry)->size() < entry[0].bytes.size() / 5);
}

TEST_CASE("no bit of an entry can flip unnoticed") {
  const std::string text = *render_entry(k_key, k_two_files);
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    INFO("bit " << bit);
    CHECK_FALSE(parse_entry(k_key, damaged));
  }
}

TEST_CASE("an entry that is too short or too long is none") {
  const std::string text = *render_entry(k_key, k_two_files);
  for (size_t size = 0; size < text.size(); ++size)
    CHECK_FALSE(parse_entry(k_key, text.substr(0, size)));
  CHECK_FALSE(parse_entry(k_key, text + '\0'));
  CHECK_FALSE(parse_entry(k_key, text + text));
}

TEST_CASE("another key's entry is none, even where its file has this key's name") {
  std::string other = k_key;
  other[0] = '3';
  CHECK_FALSE(parse_entry(other, *render_entry(k_key, k_two_files)));
}
