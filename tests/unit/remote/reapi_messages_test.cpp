#include "remote/reapi_messages.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/text.h"
#include "support/hex.h"

namespace dsbuild {
namespace {

const std::string k_a = samples::repeated("a", 64), k_b = samples::repeated("b", 64);
const std::string k_uuid = "00000000-0000-4000-8000-000000000000";

// All bytes below are by Google's protobuf 7 for Python, of the fields of remote_execution.proto and
// bytestream.proto. {A} and {B} are the digits of digests.
std::string golden(const std::string& hex) {
  const auto with_a = replace_all(hex, "{A}", samples::repeated("61", 64));
  return samples::from_hex(replace_all(with_a, "{B}", samples::repeated("62", 64)));
}

std::string capabilities_bytes() {
  return golden("0a0e0a030201061202080120808080022a0408021003");
}
std::string missing_bytes() {
  return golden("12420a40{B}12450a40{A}10ac02");
}
std::string batch_update_response_bytes() {
  return golden("0a480a440a40{A}100512000a500a440a40{B}100312080808120466756c6c");
}
std::string batch_read_response_bytes() {
  return golden("0a4f0a440a40{A}1005120562797465731a000a500a440a40{B}10031a08080512046e6f6e65");
}

}  // namespace

TEST_CASE("requests are the messages that Google's protobuf makes") {
  CHECK(render_get_capabilities("main") == golden("0a046d61696e"));
  CHECK(render_find_missing("main", {{k_a, 300}, {k_b, 0}}) ==
        golden("0a046d61696e12450a40{A}10ac0212420a40{B}1801"));
  CHECK(render_batch_update("main", {{{k_a, 5}, "bytes"}, {{k_b, 3}, std::string_view("\0\1\2", 3)}}) ==
        golden("0a046d61696e124d0a440a40{A}100512056279746573124b0a440a40{B}100312030001022801"));
  CHECK(render_batch_read("main", {{k_a, 5}, {k_b, 3}}) ==
        golden("0a046d61696e12440a40{A}100512440a40{B}10032001"));
  CHECK(render_get_result("main", {k_a, 140}) == golden("0a046d61696e12450a40{A}108c013001"));
  CHECK(render_update_result("main", {k_a, 140}, golden("20012a03616263")) ==
        golden("0a046d61696e12450a40{A}108c011a0720012a036162632801"));
  CHECK(render_read("main/blobs/x/5") == golden("0a0e6d61696e2f626c6f62732f782f35"));
  CHECK(render_write("main/uploads/u/blobs/x/5", 0, "byt", false) ==
        golden("0a186d61696e2f75706c6f6164732f752f626c6f62732f782f355203627974"));
  CHECK(render_write("main/uploads/u/blobs/x/5", 3, "es", true) == golden("1003180152026573"));
  CHECK(render_command({.arguments = {"dsbuild"}}) == golden("0a0764736275696c64"));
  CHECK(render_action({k_a, 9}, digest_of(""), {}, k_b) ==
        golden("0a440a40{A}"
               "100912420a40653362306334343239386663316331343961666266346338393936666239323432376165343165343"
               "634396239333463613439353939316237383532623835354a40{B}"));
  CHECK(render_request_metadata("0.1.0", k_uuid) ==
        golden("0a100a0764736275696c641205302e312e301a2430303030303030302d303030302d343030302d383030302d30303"
               "0303030303030303030"));
}

TEST_CASE("a server without instances gets no name of one") {
  CHECK(render_get_capabilities("").empty());
  CHECK(render_batch_read("", {}) == golden("2001"));
}

TEST_CASE("answers of Google's protobuf are read") {
  CHECK(parse_capabilities(capabilities_bytes()) == ReapiCapabilities{true, true, 4194304});
  CHECK(parse_missing(missing_bytes()) == std::vector<ReapiDigest>{{k_b, 0}, {k_a, 300}});
  CHECK(parse_batch_update(batch_update_response_bytes()) ==
        std::vector<ReapiBlobAnswer>{{{k_a, 5}}, {{k_b, 3}, GrpcCode::resource_exhausted, "full"}});
  CHECK(parse_batch_read(batch_read_response_bytes()) ==
        std::vector<ReapiBlobAnswer>{{{k_a, 5}, GrpcCode::ok, "", "bytes"},
                                     {{k_b, 3}, GrpcCode::not_found, "none"}});
  CHECK(parse_read(golden("52056279746573")) == "bytes");
  CHECK(parse_write(golden("0805")) == 5);
  CHECK(parse_write(golden("08ffffffffffffffffff01")) == -1);
}

TEST_CASE("what a server does not say it cannot do") {
  CHECK(parse_capabilities("") == ReapiCapabilities{});
  CHECK(parse_capabilities(golden("0a020801")) == ReapiCapabilities{true, false, 0});      // not packed
  CHECK(parse_capabilities(golden("0a020802")) == ReapiCapabilities{});                    // SHA-1
  CHECK(parse_capabilities(golden("0a0b20ffffffffffffffffff01")) == ReapiCapabilities{});  // -1 bytes
}

// Red without a limit: 4 bytes of a server would take 150 here.
TEST_CASE("a server that answers without end fills no memory") {
  CHECK(parse_batch_read(samples::repeated(golden("0a020a00"), 100'000))->size() == k_most_blob_answers);
  CHECK(parse_missing(samples::repeated(golden("1200"), 100'000))->size() == k_most_blob_answers);
}

TEST_CASE("damaged answers are refused or read as something else, and nothing worse") {
  std::mt19937 random(20261129);
  const auto parse_all = [](std::string_view bytes) {
    return size_t{parse_capabilities(bytes).has_value()} + parse_missing(bytes).has_value() +
           parse_batch_update(bytes).has_value() + parse_batch_read(bytes).has_value() +
           parse_read(bytes).has_value() + parse_write(bytes).has_value();
  };
  for (const std::string& whole :
       {capabilities_bytes(), missing_bytes(), batch_update_response_bytes(), batch_read_response_bytes()}) {
    CHECK(parse_all(whole) > 0);
    CHECK(parse_all(whole.substr(0, whole.size() - 1)) < 6);
    for (int i = 0; i < 2000; ++i) {
      std::string damaged = whole;
      for (int flips = 0; flips < 3; ++flips)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      CHECK(parse_all(damaged) <= 6);
    }
  }
}

}  // namespace dsbuild
