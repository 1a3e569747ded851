#include "inputs/clock_words.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("Macros of times are whole words, wherever they stand") {
  CHECK(reads_clock("const char* d = __DATE__;"));
  CHECK(reads_clock("__TIME__"));
  CHECK(reads_clock("#define BUILT __DATE__ \" \" __TIME__\n"));
  CHECK(reads_clock("-DBUILT=__DATE__"));
  CHECK_FALSE(reads_clock("int my__DATE__s; int __TIME__LEFT; __TIMESTAMP__"));
  CHECK_FALSE(reads_clock(""));
  CHECK(reads_time_of_file("f(__TIMESTAMP__)"));
  CHECK_FALSE(reads_time_of_file("__TIME__ __TIMESTAMP___"));
}
