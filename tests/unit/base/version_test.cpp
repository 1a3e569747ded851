#include "base/version.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

Version version(const std::string& text) {
  return parse_version(text).value();
}

bool holds(const std::string& range, const std::string& text) {
  return parse_version_range(range, "here").value().contains(version(text));
}

}  // namespace

TEST_CASE("Versions compare number by number, a missing one counts as 0") {
  CHECK(version("13") == version("13.0"));
  CHECK(version("13.0") < version("13.0.88"));
  CHECK(version("9.2") < version("11.8"));
  CHECK(version("12.10") > version("12.9"));
}

TEST_CASE("A version is the leading digits and dots") {
  CHECK(version("13.0.88-rc1").text() == "13.0.88");
  CHECK(version("13.").text() == "13");
  CHECK(version("11.8").short_text() == "11.8");
  CHECK(version("11").short_text() == "11.0");
  CHECK_FALSE(parse_version("V13.0"));
  CHECK_FALSE(parse_version(""));
  CHECK_FALSE(parse_version("-1"));
  CHECK_FALSE(parse_version("99999999999999999999"));
}

TEST_CASE("All clauses of a range must hold") {
  CHECK(holds(">=0.1.15,<0.2", "0.1.20"));
  CHECK(holds(" >= 0.1.15 , < 0.2 ", "0.1.15"));
  CHECK_FALSE(holds(">=0.1.15,<0.2", "0.2"));
  CHECK(holds(">11.8", "12"));
  CHECK_FALSE(holds(">11.8", "11.8"));
  CHECK(holds("<=13.0", "13"));
  CHECK_FALSE(holds("<=13.0", "13.0.88"));
}

TEST_CASE("== and != compare the parts given") {
  CHECK(holds("==13.*", "13.0.88"));
  CHECK(holds("13", "13.0.88"));
  CHECK(holds("==13.0", "13.0.88"));
  CHECK_FALSE(holds("==13.0", "13.1"));
  CHECK(holds("==13.0", "13"));
  CHECK(holds("!=13.*", "12.9"));
  CHECK_FALSE(holds("!=13", "13.5"));
}

TEST_CASE("~= is the series of the version") {
  CHECK(holds("~=2.1", "2.9"));
  CHECK_FALSE(holds("~=2.1", "2.0.9"));
  CHECK_FALSE(holds("~=2.1", "3.0"));
  CHECK(holds("~=2.1.3", "2.1.10"));
  CHECK_FALSE(holds("~=2.1.3", "2.2"));
  CHECK(holds("~= 2.0.1.post1", "2.0.4"));
}

// The spellings are those of PEP 440's own text.
TEST_CASE("Versions of PEP 440 are compared by their release number") {
  for (const std::string text :
       {"1.2.3", "v1.2.3", "1.2.3a1", "1.2.3.beta-2", "1.2.3rc1", "1.2.3_c1", "1.2.3.post1", "1.2.3-1",
        "1.2.3.dev20260101", "1.2.3rc1.post2.dev3", "1.2.3+cu130", "1.2.3a0+git12ab.dirty", "1.2.3rc"}) {
    INFO(text);
    REQUIRE(parse_release(text));
    CHECK(parse_release(text)->text() == "1.2.3");
    CHECK(holds(">=" + text, "1.2.3"));
    CHECK_FALSE(holds(">" + text, "1.2.3"));
  }
  for (const std::string text :
       {"", "1.2.3.", "1!2.3", "1.2.3x", "1.2.3rc1x", "1.2.3+", "1.2.3+a b", "rc1", "1..2"}) {
    INFO(text);
    CHECK_FALSE(parse_release(text));
  }
}

TEST_CASE("A range that cannot be read is an error that names its place") {
  for (const std::string text : {"", ",", ">=", "abc", ">=x", ">=13.*", "=>13", "13,", "1..2", "1.", "==1.2x",
                                 "*", "~=2", "===2.0", "==2.0rc1.*"}) {
    const auto range = parse_version_range(text, "op.yaml:3:11");
    INFO(text);
    REQUIRE_FALSE(range);
    CHECK(range.error().exit == Exit::usage);
    CHECK(range.error().code == "bad_version_range");
    CHECK(range.error().where == "op.yaml:3:11");
  }
}

TEST_CASE("dsbuild's own version can be read") {
  CHECK(parse_version(k_version));
}
