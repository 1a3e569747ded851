#include "remote_execution/execution_messages.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/text.h"
#include "support/hex.h"

namespace dsbuild {
namespace {

const std::string k_a = samples::repeated("a", 64), k_b = samples::repeated("b", 64);
const PlatformProperties k_platform = {{"OSFamily", "linux"}, {"pool", "a b"}};

// All bytes below are by Google's protobuf 7.36 for Python and the classes of BuildGrid 0.8.16, which are
// generated from remote_execution.proto and operations.proto. {A} and {B} are the digits of digests, {TYPES}
// the prefix of the types of the API.
std::string golden(std::string hex) {
  const std::string types =
      "747970652e676f6f676c65617069732e636f6d2f6275696c642e62617a656c2e72656d6f74652e657865637574696f6e2e7632"
      "2e";
  hex = replace_all(hex, "{TYPES}", types);
  hex = replace_all(hex, "{A}", samples::repeated("61", 64));
  return samples::from_hex(replace_all(hex, "{B}", samples::repeated("62", 64)));
}

std::string queued_bytes() {
  return golden(
      "0a0c6f7065726174696f6e732f371299010a4c{TYPES}"
      "457865637574654f7065726174696f6e4d657461646174611249080212"
      "450a40{A}108c01");
}
std::string done_bytes() {
  return golden(
      "0a0c6f7065726174696f6e732f3712520a4c{TYPES}"
      "457865637574654f7065726174696f6e4d65746164617461120208041801"
      "2ad7020a43{TYPES}45786563757465526573706f6e7365128f020a8a02124d0a05612e70747812440a40{A}"
      "100512510a05622e"
      "67707512440a40{B}10022a02686920032a036f757442440a40{B}"
      "10094a190a0277313a0b0880e2cfaa061080e59a7742060882"
      "e2cfaa061001");
}
std::string full_bytes() {
  return golden(
      "0a0c6f7065726174696f6e732f3718012a96010a43{TYPES}"
      "45786563757465526573706f6e7365124f1a4d0808121174686520"
      "71756575652069732066756c6c1a360a28747970652e676f6f676c65617069732e636f6d2f676f6f676c652e7270632e526574"
      "72"
      "79496e666f120a0a0808021080cab5ee01");
}

}  // namespace

TEST_CASE("requests of Execution are the messages that Google's protobuf makes") {
  ReapiDirectory directory;
  directory.files = {{"x.ii", {{k_b, 0}, false}}, {"cicc", {{k_a, 300}, true}}};
  directory.directories = {{"libdevice", {k_b, 7}}, {"lib", {k_a, 5}}};
  CHECK(render_directory(directory) ==
        golden("0a4f0a046369636312450a40{A}10ac0220010a4a0a04782e696912420a40{B}124b0a036c696212440a40{A}1005"
               "12510a096c696264657669636512440a40{B}1007"));
  CHECK(render_directory({}).empty());
  CHECK(render_execute("main", {k_a, 140}, CacheLookup::used) ==
        golden("0a046d61696e32450a40{A}108c01480150015801"));
  CHECK(render_execute("", {k_a, 140}, CacheLookup::skipped) == golden("180132450a40{A}108c01480150015801"));
  CHECK(render_wait_execution("operations/7") == golden("0a0c6f7065726174696f6e732f37"));
  CHECK(render_cancel_operation("operations/7") == golden("0a0c6f7065726174696f6e732f37"));
}

TEST_CASE("a Command and an Action are the messages that Google's protobuf makes") {
  ReapiCommand command{.arguments = {"../tools/ptxas", "-o", "a.cubin"},
                       .environment = {{"TMPDIR", "../tmp"}, {"A", "1"}},
                       .working_directory = "work",
                       .output_paths = {"b", "a.cubin"},
                       .platform = k_platform};
  const std::string head =
      "0a0e2e2e2f746f6f6c732f70747861730a022d6f0a07612e637562696e12060a014112013112100a06544d5044495212062e2e"
      "2f"
      "746d70";
  const std::string tail =
      "2a200a110a084f5346616d696c7912056c696e75780a0b0a04706f6f6c12036120623204776f726b3a07612e637562696e3a01"
      "62";
  CHECK(render_command(command) == golden(head + tail));
  command.names_output_files = true;
  CHECK(render_command(command) == golden(head + "1a07612e637562696e1a0162" + tail));
  CHECK(
      render_action({k_a, 9}, {k_b, 3}, k_platform, std::string("\0\x11", 2)) ==
      golden("0a440a40{A}100912440a40{B}10034a02001152200a110a084f5346616d696c7912056c696e75780a0b0a04706f6f"
             "6c1203612062"));
}

TEST_CASE("operations of Google's protobuf are read") {
  const auto queued = parse_operation(queued_bytes());
  REQUIRE(queued);
  CHECK(queued->name == "operations/7");
  CHECK(queued->stage == ReapiStage::queued);
  CHECK_FALSE(queued->is_done);
  CHECK_FALSE(queued->result);

  const auto done = parse_operation(done_bytes());
  REQUIRE((done && done->result));
  CHECK(done->stage == ReapiStage::completed);
  CHECK((done->is_done && done->was_cached));
  CHECK(done->status.code == GrpcCode::ok);
  const ReapiResult& result = *done->result;
  CHECK(result.exit_code == 3);
  REQUIRE(result.files.size() == 2);
  CHECK((result.files[0].path == "a.ptx" && result.files[0].digest == ReapiDigest{k_a, 5}));
  CHECK((result.files[1].path == "b.gpu" && result.files[1].contents == "hi"));
  CHECK((result.out == "out" && result.out_digest.hash.empty()));
  CHECK((result.err.empty() && result.err_digest == ReapiDigest{k_b, 9}));
  CHECK(result.times.worker == "w1");
  CHECK(result.times.execution_started == Approx(1'700'000'000.25));
  CHECK(result.times.execution_ended == 1'700'000'002);
}

TEST_CASE("an operation that failed says why, and when to try again") {
  const auto full = parse_operation(full_bytes());
  REQUIRE((full && full->is_done));
  CHECK_FALSE(full->result);
  CHECK((full->status.code == GrpcCode::resource_exhausted && full->status.words == "the queue is full"));
  CHECK(full->status.retry_delay == std::chrono::milliseconds(2500));

  const auto lost = parse_operation(golden("0a0c6f7065726174696f6e732f3718012208080e12046c6f7374"));
  REQUIRE((lost && lost->is_done));
  CHECK((lost->status.code == GrpcCode::unavailable && lost->status.words == "lost"));

  const auto killed = parse_operation(golden(
      "0a0c6f7065726174696f6e732f3718012a540a43{TYPES}45786563757465526573706f6e7365120d0a0b20f7fffffffff"
      "fffffff01"));
  REQUIRE((killed && killed->result));
  CHECK(killed->result->exit_code == -9);
}

TEST_CASE("a response of another type is no result") {
  const std::string other = replace_all(done_bytes(), "ExecuteResponse", "ExecuteRequests");
  const auto operation = parse_operation(other);
  REQUIRE(operation);
  CHECK_FALSE(operation->result);
}

TEST_CASE("damaged operations are refused or read as something else, and nothing worse") {
  std::mt19937 random(20261130);
  for (const std::string& whole : {queued_bytes(), done_bytes(), full_bytes()}) {
    CHECK_FALSE(parse_operation(whole.substr(0, whole.size() - 1)));
    for (int i = 0; i < 2000; ++i) {
      std::string damaged = whole;
      for (int flips = 0; flips < 3; ++flips)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      const auto operation = parse_operation(damaged);
      CHECK((!operation || operation->name.size() <= whole.size()));
    }
  }
}

}  // namespace dsbuild
