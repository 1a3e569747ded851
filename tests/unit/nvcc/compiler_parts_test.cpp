#include "nvcc/compiler_parts.h"
#include "base/args.h"

#include <catch2/catch.hpp>

namespace dsbuild {
namespace {

const PartFiles k_files = {"a.ii", "a.s", "a.o"};

// As `clang++ -###` (22.1.8) answers; shortened.
const std::string k_cc1 =
    " \"/rocm/llvm/bin/clang\" \"-cc1\" \"-triple\" \"amdgcn-amd-amdhsa\" \"-O3\" \"-main-file-name\" "
    "\"a.cu\""
    " \"-mlink-builtin-bitcode\" \"/rocm/amdgcn/bitcode/ocml.bc\" \"-fdebug-compilation-dir=/home/me\""
    " \"-resource-dir\" \"/rocm/llvm/lib/clang/22\" \"-internal-isystem\" \"/usr/include\" \"-include\""
    " \"wrapper.h\" \"-D\" \"N=1\" \"-dependency-file\" \"obj/a.co.d\" \"-MT\" \"obj/a.co\" "
    "\"-sys-header-deps\""
    " \"-o\" \"/tmp/a-gfx942-1.o\" \"-x\" \"hip\" \"pack/a.cu\"\n";
const std::string k_lld =
    " \"/rocm/llvm/bin/lld\" \"-flavor\" \"gnu\" \"-shared\" \"-o\" \"a.o\" \"/tmp/a-gfx942-1.o\"\n";

TEST_CASE("device code of clang is compiled and linked") {
  const auto found = parts_in("clang version 22\nTarget: x86_64\n" + k_cc1 + k_lld, k_files);
  REQUIRE(found);
  REQUIRE(found->parts.size() == 2);
  CHECK(found->parts[0].words == Args{"/rocm/llvm/bin/clang", "-cc1", "-triple", "amdgcn-amd-amdhsa", "-O3",
                                      "-main-file-name", "a.cu", "-mlink-builtin-bitcode", "ocml.bc", "-o",
                                      "a.s", "-x", "hip-cpp-output", "a.ii"});
  CHECK(found->parts[0].inputs == Args{"a.ii", "ocml.bc"});
  CHECK(found->parts[0].output == "a.s");
  CHECK(found->parts[1].words == Args{"/rocm/llvm/bin/lld", "-flavor", "gnu", "-shared", "-o", "a.o", "a.s"});
  CHECK(found->parts[1].inputs == Args{"a.s"});
  CHECK(found->linked == std::map<std::string, Path>{{"ocml.bc", "/rocm/amdgcn/bitcode/ocml.bc"}});
}

TEST_CASE("host code of clang is one part") {
  const auto found = parts_in(" (in-process)\n" + k_cc1, k_files);
  REQUIRE(found);
  REQUIRE(found->parts.size() == 1);
  CHECK(found->parts[0].output == "a.o");
}

TEST_CASE("parts that read files of elsewhere, and other parts, are none") {
  CHECK_FALSE(parts_in("", k_files));
  CHECK_FALSE(parts_in(" \"/usr/bin/ld\" \"-o\" \"a.o\" \"b.o\"\n", k_files));
  std::string profiled = k_cc1;
  profiled.insert(profiled.find(" \"-o\""), " \"-profile-list=/home/me/list\"");
  CHECK_FALSE(parts_in(profiled, k_files));
  CHECK_FALSE(parts_in(k_cc1 + " \"/rocm/bundler\" \"-o\" \"a.o\"\n", k_files));
}

TEST_CASE("gcc is asked for the parts of the text, clang of the source") {
  const Args gcc = {"g++", "-O2", "-DN=1", "-c", "pack/a.cpp", "-o", "obj/a.o", "-MD", "-MF", "obj/a.o.d"};
  CHECK(question_for_parts(gcc, "pack/a.cpp", k_files) ==
        Args{"g++", "-O2", "-###", "-x", "c++-cpp-output", "-c", "a.ii", "-o", "a.o"});
  CHECK_FALSE(asks_in_place(gcc));
  const Args clang = {"clang++", "-x",       "hip", "-O3",       "-MD", "-Xclang", "-MT",
                      "-Xclang", "obj/a.co", "-c",  "pack/a.cu", "-o",  "obj/a.co"};
  CHECK(question_for_parts(clang, "pack/a.cu", k_files) == Args{"clang++", "-x", "hip", "-O3", "-Xclang",
                                                                "-MT", "-Xclang", "obj/a.co", "-c",
                                                                "pack/a.cu", "-###", "-o", "a.o"});
  CHECK(asks_in_place(clang));
}

TEST_CASE("what names folders in the object or does not optimise is not parted") {
  CHECK(can_be_parted({"g++", "-O2", "-c"}));
  CHECK_FALSE(can_be_parted({"g++", "-c"}));
  CHECK_FALSE(can_be_parted({"g++", "-O2", "-O0"}));
  CHECK_FALSE(can_be_parted({"g++", "-O2", "-gline-tables-only"}));
}

}  // namespace
}  // namespace dsbuild
