#include "provenance/licences.h"

#include <catch2/catch.hpp>

#include "provenance/components.h"

using namespace dsbuild;

TEST_CASE("Licences are joined by AND, each once, and a choice stays one") {
  CHECK(joined_licences("MIT", {}) == "MIT");
  CHECK(joined_licences("", {"MIT"}).empty());
  CHECK(joined_licences("MIT", {"", "BSD-3-Clause", "MIT", "BSD-3-Clause"}) == "MIT AND BSD-3-Clause");
  CHECK(joined_licences("MIT OR Apache-2.0", {""}) == "MIT OR Apache-2.0");
  CHECK(joined_licences("MIT OR Apache-2.0", {"MIT"}) == "(MIT OR Apache-2.0) AND MIT");
  CHECK(joined_licences("X OR A AND MIT AND B", {"MIT"}) == "(X OR A AND MIT AND B) AND MIT");
  CHECK(joined_licences("(MIT OR X) AND Y", {"Z"}) == "(MIT OR X) AND Y AND Z");
  CHECK(joined_licences("(A OR B AND MIT AND C) AND D", {"MIT"}) == "(A OR B AND MIT AND C) AND D AND MIT");
}

TEST_CASE("A licence with an exception is one of its own") {
  CHECK(joined_licences("Apache-2.0 WITH LLVM-exception", {"Apache-2.0"}) ==
        "Apache-2.0 WITH LLVM-exception AND Apache-2.0");
}

TEST_CASE("The CUDA runtime has one licence, wherever it is named") {
  CHECK(licence_of_product("CUDA") == k_nvidia_licence);
  CHECK(licence_of_product("something").empty());
}
