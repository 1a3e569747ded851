#include "nvcc/arch_tagged_symbols.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("slices: names that have the list of archs are exchanged, as they are and mangled") {
  for (const auto& [mine, other] : std::vector<std::pair<std::string, std::string>>{
           {"namespace THRUST_300001_SM_800_900_NS {", "namespace THRUST_300001_SM_0000_NS {"},
           {"cub::CUB_300001_SM_800_900::x", "cub::CUB_300001_SM_0000::x"},
           {"cub::CUB_101702_800_900_NS::x", "cub::CUB_101702_0000_NS::x"},                    // CUDA 11.8
           {"inline namespace _V_300301_SM_800_900 ", "inline namespace _V_300301_SM_0000 "},  // 13.5
           {"cuda::std::_SM_800_900::x", "cuda::std::_SM_0000::x"},
           {"_ZN6thrust27THRUST_300001_SM_800_900_NS3seqE[1];",
            "_ZN6thrust24THRUST_300001_SM_0000_NS3seqE[1];"},
           {"_ZN3cub21CUB_300001_SM_800_9006detail1kEv", "_ZN3cub18CUB_300001_SM_00006detail1kEv"},
           {"int a = 800, b = SM_800;", "int a = 800, b = SM_800;"}}) {
    CAPTURE(mine);
    CHECK(with_list(mine, "800,900", "0000") == other);
    CHECK(with_list(other, "0000", "800,900") == mine);
  }
  CHECK(names_list("x::THRUST_2_SM_800_NS::y", "800"));
  CHECK_FALSE(names_list("x::THRUST_2_SM_800_NS::y", "900"));
  CHECK_FALSE(names_list("SM_LIST(800,900)", "800,900"));
}

TEST_CASE("slices: names of a list that cannot be told apart are left alone") {
  for (const std::string text :
       {"const char* name = \"thrust::THRUST_300001_SM_800_900_NS\";",  // a string has the length it has
        "char c = '\"'; const char* name = \"THRUST_300001_SM_800_900_NS\";",
        "namespace THRUST_300001_SM_800_900_1000_NS {",  // another list
        "int my_THRUST_300001_SM_800_900_NS;", "int foo_SM_800_900;",
        "namespace THRUST_300001_SM_800_900_NS {} namespace THRUST_300001_SM_0000_NS {}",
        ".global .align 1 .b8 $str[9] = {83, 77, 95, 56, 48, 48, 95, 57, 48, 48, 0};"}) {
    CAPTURE(text);
    CHECK_FALSE(with_list(text, "800,900", "0000"));
  }
}

TEST_CASE("slices: quotes of other lines and characters are no strings") {
  const std::string text = "f(\"it's\"); n = 1'000; c = '\\''; THRUST_3_SM_80_NS::x();\n";
  CHECK(with_list("// it's\n" + text, "80", "0000") ==
        "// it's\nf(\"it's\"); n = 1'000; c = '\\''; THRUST_3_SM_0000_NS::x();\n");
}
