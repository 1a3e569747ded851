#include "wrapper/call_log.h"

#include <catch2/catch.hpp>

namespace dsbuild {

TEST_CASE("What a call came to is one line, and is read back") {
  const CallEnd end{CallKind::kept_whole, "csrc/a \"b\".cu", "has debug information (-G)", 0.25, 2.5};
  const std::string line = render_call_end(end);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(parse_call_end(line) == end);
  CHECK_FALSE(parse_call_end(""));
  CHECK_FALSE(parse_call_end("{\"kind\":\"of another version\"}"));
}

}  // namespace dsbuild
