#include "remote/utc_time.h"

#include <catch2/catch.hpp>

namespace dsbuild {

// The seconds are GNU date's: date -u -d '2013-05-24T00:00:00Z' +%s.
TEST_CASE("times of AWS and HTTP are seconds since the epoch") {
  CHECK(basic_time(1369353600) == "20130524T000000Z");
  CHECK(read_iso_time("2013-05-24T00:00:00Z") == 1369353600);
  CHECK(read_iso_time("2013-05-24T00:00:00.123456Z") == 1369353600);
  CHECK(read_iso_time("2013-05-24T02:00:00+02:00") == 1369353600);
  CHECK(read_iso_time("2013-05-23T22:30:00-01:30") == 1369353600);
  CHECK(read_http_date("Fri, 24 May 2013 00:00:00 GMT") == 1369353600);
  CHECK(read_http_date("Thu, 29 Feb 2024 23:59:59 GMT") == 1709251199);
}

TEST_CASE("what is not a time is none") {
  for (const char* text : {"", "soon", "2013-05-24", "2013-13-24T00:00:00Z", "2013-05-24T24:00:00Z",
                           "2013-05-24T00:00:00", "2013-05-24T00:00:00 UTC", "2013-05-24T00:00:00*02:00"}) {
    INFO(text);
    CHECK_FALSE(read_iso_time(text));
  }
  for (const char* text : {"", "now", "Fri, 24 Foo 2013 00:00:00 GMT", "2013-05-24T00:00:00Z"}) {
    INFO(text);
    CHECK_FALSE(read_http_date(text));
  }
}

}  // namespace dsbuild
