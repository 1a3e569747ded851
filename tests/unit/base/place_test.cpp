#include "base/place.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

// The lines are what gcc 12, nvcc 13.0, GNU ld and clang 14 print.
TEST_CASE("A compiler's line begins with its place") {
  CHECK(parse_place("pack/a.cpp:3:7: error: 'x' was not declared in this scope") ==
        Place{"pack/a.cpp", 3, 7});
  CHECK(parse_place("pack/a.cu(12): error: identifier \"x\" is undefined") == Place{"pack/a.cu", 12, 0});
  CHECK(parse_place("a (copy).cu(2): error: expected a \";\"") == Place{"a (copy).cu", 2, 0});
  CHECK(parse_place("/usr/include/c++/12/bits/a.h:100: note: here") ==
        Place{"/usr/include/c++/12/bits/a.h", 100, 0});
}

TEST_CASE("The place of a message of ours is all of it") {
  CHECK(parse_place("configs/ci.yaml:3:1") == Place{"configs/ci.yaml", 3, 1});
  CHECK(parse_place("op.yaml:4") == Place{"op.yaml", 4, 0});
}

TEST_CASE("A line that begins with something else has no place") {
  for (const char* line :
       {"", "--arch", "TORCH_CUDA_ARCH_LIST", ":3:1", "/usr/bin/ld: a.o: in function `f':",
        "a.o:(.text+0x5): undefined reference to `f'", "fatal error: no input files", "a.yaml:0", "(3): x",
        "nvcc fatal   : Unsupported gpu architecture 'compute_70'", "a.cpp:99999999999999999999: x"})
    CHECK(parse_place(line) == std::nullopt);
}
