// Zip archives read in parts. Golden: what was put into them (by make_zip, whose archives Python's zipfile
// reads: tests/packaging).
#include <catch2/catch.hpp>

#include "package/package.h"
#include "package/zip_reader.h"
#include "unit/base/counted_bytes.h"

using namespace dsbuild;

namespace {

// 12 MB that no window holds, and that shrink little.
std::string long_text() {
  std::string text;
  for (uint32_t i = 0; text.size() < (12U << 20); ++i)
    text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

OwnedBytes zip_of(const std::vector<PackageFile>& files) {
  return OwnedBytes(make_zip(files).value());
}

}  // namespace

TEST_CASE("Members are listed in their order and read from any place, forwards and backwards") {
  const std::string text = long_text();
  const OwnedBytes archive = zip_of({{"a/long.txt", text}, {"empty", ""}, {"b.txt", "bytes"}});
  const auto members = zip_members(archive, "x.whl");
  REQUIRE(members);
  REQUIRE(members->size() == 3);
  CHECK(members->at(0).path == "a/long.txt");
  CHECK(members->at(0).size == text.size());
  CHECK(members->at(1).size == 0);
  const auto last = open_zip_member(archive, members->at(2), "x.whl/b.txt");
  REQUIRE(last);
  CHECK(*(*last)->read(1, 3) == "yte");
  const auto member = open_zip_member(archive, members->at(0), "x.whl/a/long.txt");
  REQUIRE(member);
  const std::vector<std::pair<size_t, size_t>> places = {
      {0, 64},          {text.size() - 100, 100}, {text.size() - 3'000'000, 2'000'000},
      {10, 10},         {5'000'000, 6'000'000},   {12, 34},
      {0, text.size()}, {text.size(), 0}};
  for (const auto& [offset, size] : places) {
    INFO(offset << " " << size);
    const auto read = (*member)->read(offset, size);
    REQUIRE(read);
    CHECK((*read == text.substr(offset, size)));
  }
}

TEST_CASE("What lies little before what was read last is read without starting again") {
  const std::string text = long_text();
  const OwnedBytes archive = zip_of({{"long.txt", text}});
  const CountedBytes counting(archive);
  const auto member = open_zip_member(counting, zip_members(archive, "x")->at(0), "x/long.txt");
  REQUIRE((*member)->read(text.size() - 10, 10));
  const uint64_t once = counting.count;
  REQUIRE((*member)->read(text.size() - 3'000'000, 1'000'000));
  CHECK(counting.count == once);
  REQUIRE((*member)->read(0, 10));
  CHECK(counting.count > once);
}

TEST_CASE("A zip archive cut off anywhere, or with any byte changed, is read or refused") {
  const std::string bytes(make_zip({{"a.so", std::string(3000, 'x') + "end"}, {"b", "b"}}).value());
  const auto check = [](const std::string& damaged) {
    const OwnedBytes archive(damaged);
    const auto members = zip_members(archive, "x");
    if (!members) return members.error().code == "bad_archive";
    for (const ZipMember& one : *members) {
      const auto member = open_zip_member(archive, one, "x/a.so");
      const auto read =
          member ? (*member)->read(0, std::min<uint64_t>(one.size, 5000)) : Result<std::string>("");
      if (!member && member.error().code != "bad_archive") return false;
      if (!read && read.error().code != "bad_archive") return false;
    }
    return true;
  };
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK(check(bytes.substr(0, length)));
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      CHECK(check(damaged));
    }
  CHECK(is_zip(as_bytes_of(bytes)));
  CHECK_FALSE(is_zip(as_bytes_of("PK")));
}
