#include "ninja/clang_flags.h"
#include "base/args.h"

#include <catch2/catch.hpp>

namespace dsbuild {
namespace {

TEST_CASE("what clang has no word for is left out, with its value wherever that stands") {
  CHECK(clang_flags({"-ccbin", "/usr/bin/g++-11", "-O3"}) == Args{"-O3"});
  CHECK(clang_flags({"-ccbin=/usr/bin/g++-11", "--threads=4", "-t", "4", "-DX"}) == Args{"-DX"});
  CHECK(clang_flags({"-Xptxas=-v", "-Xptxas", "-O2", "--ptxas-options=-v", "-g"}) == Args{"-g"});
  CHECK(clang_flags({"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", "-lineinfo", "-G"}).empty());
}

TEST_CASE("what clang calls otherwise is renamed") {
  CHECK(clang_flags({"--use_fast_math", "-use_fast_math", "--debug", "--disable-warnings"}) ==
        Args{"-ffast-math", "-ffast-math", "-g", "-w"});
}

TEST_CASE("what is passed on to the host compiler stands for itself, by the same table") {
  CHECK(clang_flags({"-Xcompiler=-fPIC,-Wall", "-Xcompiler", "-fno-gnu-unique,-O1",
                     "--compiler-options=-g"}) == Args{"-fPIC", "-Wall", "-O1", "-g"});
  CHECK(clang_flags({"-Xcompiler"}).empty());
}

TEST_CASE("all else stays as it is") {
  const Args flags = {"-std=c++17",   "-O3", "-I",    "dir", "-isystem", "threads", "-DA=b,c",
                      "-Wno-reorder", "-w",  "-Wall", "--",  "-",        ""};
  CHECK(clang_flags(flags) == flags);
  CHECK(clang_flags({"-Werror", "-DX", "-Werror=reorder"}) == Args{"-DX"});
}

}  // namespace
}  // namespace dsbuild
