#include "remote/grpc.h"

#include <catch2/catch.hpp>

using namespace dsbuild;
using namespace std::string_literals;

// The frames of "abc" and of nothing, as PROTOCOL-HTTP2.md describes them.
TEST_CASE("messages travel with their lengths") {
  std::string frames;
  add_grpc_message(frames, "abc");
  add_grpc_message(frames, "");
  CHECK(frames == "\0\0\0\0\3abc\0\0\0\0\0"s);
  CHECK(read_grpc_messages(frames) == std::vector<std::string>{"abc", ""});
  CHECK(read_grpc_messages("") == std::vector<std::string>{});
  std::string large;
  add_grpc_message(large, std::string(0x10203, 'x'));
  CHECK(large.substr(0, 5) == "\0\0\1\2\3"s);
  CHECK(read_grpc_messages(large)->front().size() == 0x10203);
}

TEST_CASE("frames that are not whole, or are compressed, are none") {
  for (const std::string& frames : {"\0"s, "\0\0\0\0"s, "\0\0\0\0\4abc"s,
                                    "\0\xff\xff\xff\xff"s
                                    "abc",
                                    "\1\0\0\0\1x"s, "\0\0\0\0\1x\0"s})
    CHECK_FALSE(read_grpc_messages(frames));
}

TEST_CASE("a status is one line that a terminal can show") {
  CHECK(describe_grpc_status(GrpcCode::unavailable, "") == "UNAVAILABLE");
  CHECK(describe_grpc_status(GrpcCode::unauthenticated, "no\r\nway\n") == "UNAUTHENTICATED: no  way");
  CHECK(describe_grpc_status(GrpcCode::internal, "\x1b[31m") == "INTERNAL: \\x1b[31m");
  CHECK(describe_grpc_status(GrpcCode::internal, std::string(5000, 'x')).size() < 400);
}

TEST_CASE("numbers that are no code are unknown") {
  CHECK(grpc_code(14) == GrpcCode::unavailable);
  for (const long number : {-1L, 17L, 1L << 40})
    CHECK(grpc_code(number) == GrpcCode::unknown);
}

TEST_CASE("bytes in a header are base64") {
  CHECK(grpc_binary_header("x", "\xff\xfe") == "x-bin: //4=");
}
