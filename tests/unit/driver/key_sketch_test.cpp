#include "driver/key_sketch.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("a sketch of keys: what is written is read") {
  KeySketch sketch;
  sketch.edges["obj/a b.o"] = Key().add("command", "nvcc '-DX=a b' -O3").add("tools", "abc");
  sketch.edges["obj/c.o"] = Key().add("empty", "");
  sketch.lists["abc"] = "0123 bin/nvcc\n4567 bin/ptxas\n";
  CHECK(parse_sketch(render_sketch(sketch)) == sketch);
}

TEST_CASE("a sketch of keys: what is no sketch") {
  for (const char* text : {"", "dsbuild-sketch 0\n", "dsbuild-sketch 1\npart command x\n",
                           "dsbuild-sketch 1\nline x\n", "dsbuild-sketch 1\nedge a\nrecord b\n"})
    CHECK_FALSE(parse_sketch(text));
}
