#include "exec/record.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

Record sample() {
  Record record;
  record.key = Key{{{"version", "4"}, {"command", "run -- g++ -DX='a b'\nc\\n"}}};
  record.result = {std::string(64, 'a'), "800,900"};
  record.given = std::string(64, 'b');
  record.inputs = {
      {"pack/a b.h", std::string(64, '1')}, {"pack/new\nline.h", std::string(64, '2')}, {"pack/gone.h", ""}};
  record.others = std::string(64, 'c');
  record.search = std::string(64, 'd');
  record.present = std::string(64, 'e');
  record.equal_files = {{"pack/x y.h", "pack/z.h", true}, {"pack/a.h", "pack/b.h", false}};
  record.outputs = {{"obj/a.o", std::string(64, '3')}};
  record.unsettled = "pack/a b.h";
  record.incomplete = "pack/c.h";
  record.clock = "pack/d.h";
  record.file_times = {{"pack/a b.h", 1'000'000'000}, {"pack/gone.h", -1}};
  return record;
}

}  // namespace

TEST_CASE("A record is read as it was written") {
  CHECK(parse_record(render_record(sample())) == sample());
  CHECK(parse_record(render_record(Record{})) == Record{});
}

TEST_CASE("A damaged record is none") {
  const std::string text = render_record(sample());
  for (const size_t at : {size_t{0}, size_t{70}, text.size() / 2, text.size() - 2}) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    CHECK_FALSE(parse_record(damaged));
  }
  CHECK_FALSE(parse_record(text.substr(0, text.size() - 1)));
  CHECK_FALSE(parse_record(""));
  CHECK_FALSE(parse_record(std::string(text.size(), '\0')));
}

TEST_CASE("Every part of a key counts, and where one ends") {
  CHECK(Key().add("a", "b").digest() != Key().add("a", "c").digest());
  CHECK(Key().add("a", "b").digest() != Key().add("ab", "").digest());
  CHECK(Key().add("a", "").add("b", "").digest() != Key().add("b", "").add("a", "").digest());
}

TEST_CASE("A record of what nobody can tell again can hold nothing") {
  CHECK(can_hold(Record{}));
  for (std::string Record::* field : {&Record::unsettled, &Record::incomplete, &Record::clock}) {
    Record record;
    record.*field = "pack/a.cpp";
    CHECK_FALSE(can_hold(record));
  }
}
