#include "remote/mirror_log.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

constexpr auto k_result = UpstreamKind::result, k_records = UpstreamKind::records;

RemoteEntry entry(const std::vector<std::string>& digests) {
  RemoteEntry entry;
  for (const std::string& digest : digests)
    entry.push_back({{digest, digest, 1}, "packed", 1});
  return entry;
}

}  // namespace

TEST_CASE("a result is found where all of its files are here") {
  MirrorLog log;
  log.note_entry(k_result, "whole", entry({"a", "b"}), {"a", "b"});
  CHECK(log.finding(k_result, "whole") == RemoteFinding::found);
  log.note_file("b", RemoteFinding::lost);
  log.note_entry(k_result, "half", entry({"a", "b"}), {"a"});
  CHECK(log.finding(k_result, "half") == RemoteFinding::lost);
  log.note_file("c", RemoteFinding::damaged);
  log.note_entry(k_result, "bad", entry({"b", "c"}), {});
  CHECK(log.finding(k_result, "bad") == RemoteFinding::damaged);
  CHECK(log.finding(k_result, "other") == RemoteFinding::not_asked);
  CHECK(log.finding(k_records, "whole") == RemoteFinding::not_asked);
  CHECK(log.count(RemoteFinding::lost) == 1);
}

TEST_CASE("a list of records is found where one of them is here") {
  MirrorLog log;
  RemoteEntry list = entry({"a", "b"});
  list[1].file.name = "a/1";  // a text that the record names
  log.note_entry(k_records, "key", list, {"a", "b"});
  CHECK(log.finding(k_records, "key") == RemoteFinding::found);
  CHECK(log.records("key") == std::vector<std::string>{"a"});
  log.note_file("a", RemoteFinding::lost);
  log.note_entry(k_records, "gone", list, {"b"});
  CHECK(log.finding(k_records, "gone") == RemoteFinding::lost);
}

TEST_CASE("only what came from there saves time") {
  MirrorLog log;
  log.note(k_result, "there", RemoteFinding::found);
  log.note(k_result, "not there", RemoteFinding::absent);
  CHECK(log.note_use("there", 70));
  CHECK_FALSE(log.note_use("not there", 5));
  CHECK_FALSE(log.note_use("here", 5));
  CHECK(log.saved_milliseconds() == 70);
}

TEST_CASE("misses in words") {
  CHECK(text_of_miss(RemoteFinding::absent, "main") == "nobody has built it (scope main)");
  CHECK(text_of_miss(RemoteFinding::absent, "") == "nobody has built it");
  CHECK(text_of_miss(RemoteFinding::found, "main").empty());
  CHECK(text_of_lost_result(RemoteFinding::absent) == "found, but its result is gone");
  CHECK(text_of_lost_result(RemoteFinding::damaged) == "refused: it is damaged");
}

TEST_CASE("spans have a begin and an end") {
  MirrorLog log;
  {
    const MirrorLog::Timer timer(log, k_upload_span);
  }
  REQUIRE(log.spans().size() == 1);
  CHECK(log.spans()[0].what == "upload");
  CHECK(log.spans()[0].begin > 0);
  CHECK(log.spans()[0].end >= log.spans()[0].begin);
}
