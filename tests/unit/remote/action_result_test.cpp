#include "remote/action_result.h"

#include <catch2/catch.hpp>
#include <random>

#include "support/hex.h"

namespace dsbuild {
namespace {

using samples::from_hex;
using samples::repeated;

const std::string k_name = repeated("c", 64);

RemoteEntry entry() {
  return {{{".compute_80.ptx", repeated("a", 64), 70000}, repeated("b", 64), 300}};
}

// By Google's protobuf 6 for Python, of the fields of remote_execution.proto.
std::string of_protobuf() {
  return from_hex("12b5010a0f2e636f6d707574655f38302e70747812450a40" + repeated("62", 64) +
                  "10ac023a5b0a4a0a067368613235361240" + repeated("61", 64) +
                  "0a0d0a0473697a65120537303030304a4a0a486473627569"
                  "6c6420" +
                  repeated("63", 64));
}

}  // namespace

TEST_CASE("an entry is the message that Google's protobuf makes and reads") {
  CHECK(render_entry(k_name, entry()) == of_protobuf());
  CHECK(parse_entry(k_name, of_protobuf()) == entry());
}

TEST_CASE("an entry that is given for a different one is none") {
  CHECK_FALSE(parse_entry(repeated("d", 64), of_protobuf()));
  CHECK_FALSE(parse_entry(k_name, ""));
  CHECK_FALSE(parse_entry(k_name, "<html>sign in</html>"));
}

TEST_CASE("fields that are not known are passed over") {
  const std::string exit_code = from_hex("2001"), more = from_hex("7a0161");
  CHECK(parse_entry(k_name, exit_code + of_protobuf() + more) == entry());
}

TEST_CASE("what tools took travels with a file, and no entry claims more than a day") {
  RemoteEntry timed = entry();
  timed.front().file.milliseconds = 1234;
  CHECK(parse_entry(k_name, render_entry(k_name, timed)) == timed);
  // A property of a node: 1: "milliseconds", 2: "1234".
  CHECK(render_entry(k_name, timed).find(from_hex("0a140a0c6d696c6c697365636f6e6473120431323334")) !=
        std::string::npos);
  timed.front().file.milliseconds = ~uint64_t{0};
  CHECK(parse_entry(k_name, render_entry(k_name, timed))->front().file.milliseconds == 86'400'000);
}

TEST_CASE("names that no result has are refused") {
  for (const char* name : {"../../home/user/.profile", "a\nb", ""}) {
    RemoteEntry bad = entry();
    bad.front().file.name = name;
    CHECK_FALSE(parse_entry(k_name, render_entry(k_name, bad)));
  }
  RemoteEntry bad = entry();
  bad.front().digest = "b";
  CHECK_FALSE(parse_entry(k_name, render_entry(k_name, bad)));
}

TEST_CASE("damaged messages are refused or read as something else, and nothing worse") {
  std::mt19937 random(20261129);
  const std::string whole = of_protobuf();
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(parse_entry(k_name, std::string_view(whole).substr(0, length)));
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = whole;
    for (int flips = 0; flips < 3; ++flips)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (const auto read = parse_entry(k_name, damaged)) CHECK(read->size() <= 1);
  }
}

}  // namespace dsbuild
