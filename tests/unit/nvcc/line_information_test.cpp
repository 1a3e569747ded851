#include "nvcc/line_information.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

const std::string k_text =
    "# 1 \"pack/a.cu\"\n"
    "namespace THRUST_3_SM_800_900_NS {\n"
    "}\n"
    "# 40 \"/usr/include/cub/b.cuh\" 1 3\n"
    "const char* raw = R\"(\n)\";\n"
    "THRUST_3_SM_800_900_NS::x(); y();\n"
    "# 7\n"
    "namespace cub { inline namespace CUB_3_SM_800_900 { struct S {}; } }\n"
    "# 2 \"pack/a.cu\" 2\n"
    "int z;\n";

// As cicc of CUDA 13.0 writes it.
std::string ptx_with(const std::string& line) {
  return "\t.loc\t2 5 30\n\tmov.u32 \t%r1, 1;\n" + line +
         "\t.file\t1 \"/p/pack/a.cu\"\n\t.file\t2 \"/usr/local/cuda/cub/b.cuh\"\n";
}

// As the newer NVVM does for compute_100.
std::string one_a_line(const std::string& name) {
  std::string text;
  for (const char c : name)
    text += ".b8 " + std::to_string(static_cast<int>(c)) + "\n";
  return text + ".b8 0\n\n\t}\n";
}

}  // namespace

TEST_CASE("slices: lines are known where a name of the list stands before other code") {
  CHECK(lines_with_code_behind_names(k_text, "800,900") == Lines{"b.cuh:42", "b.cuh:7"});
  CHECK(lines_with_code_behind_names(k_text, "900").empty());
}

TEST_CASE("slices: PTX that has code of such a line, its own or inlined, is told from that which has not") {
  const Lines lines = {"b.cuh:42"};
  CHECK(has_code_of(ptx_with("\t.loc\t2 42 9\n"), lines));
  CHECK(has_code_of(ptx_with("\t.loc\t1 5 9, function_name $L__info_string0, inlined_at 2 42 5\n"), lines));
  CHECK(has_code_of(ptx_with("\t.loc\t1 5 9, function_name $L__info_string0+8, inlined_at 2 42 5\n"), lines));
  CHECK_FALSE(has_code_of(ptx_with("\t.loc\t1 42 9\n\t.loc\t2 41 42\n"), lines));
  CHECK_FALSE(
      has_code_of(ptx_with("\t.loc\t1 5 42, function_name $L__info_string0, inlined_at 2 9 42\n"), lines));
  CHECK_FALSE(has_code_of(ptx_with("\t.loc\t2 42 9\n"), {}));
  CHECK(has_code_of(ptx_with("\t.loc\t3 9 9\n"), lines));  // a file that has no name
}

// `nvcc -lineinfo -ptx` (13.0) of thrust::THRUST_1_SM_800_900_NS::thrice<int>.
TEST_CASE("slices: names in the strings of line information are exchanged, 40 numbers a line or one") {
  const std::string code =
      "\t.visible .entry k()\n{\n}\n\t.file\t1 \"/p/a.cu\"\n\t.section\t.debug_str\n\t{\n$L__info_string0:\n";
  const std::string mine = code +
                           ".b8 "
                           "95,90,78,54,116,104,114,117,115,116,50,50,84,72,82,85,83,84,95,49,95,83,77,95,56,"
                           "48,48,95,57,48,48,95,78,83,54,116,104,114,105,99\n"
                           ".b8 101,73,105,69,69,84,95,83,50,95,0\n$L__info_string1:\n.b8 97,0\n\n\t}\n";
  const std::string other = code +
                            ".b8 "
                            "95,90,78,54,116,104,114,117,115,116,49,57,84,72,82,85,83,84,95,49,95,83,77,95,"
                            "48,48,48,48,95,78,83,54,116,104,114,105,99,101,73,105\n"
                            ".b8 69,69,84,95,83,50,95,0\n$L__info_string1:\n.b8 97,0\n\n\t}\n";
  CHECK(ptx_with_list(mine, "800,900", "0000") == other);
  CHECK(ptx_with_list(other, "0000", "800,900") == mine);
  CHECK(ptx_with_list("nothing", "800", "0000") == "nothing");
  CHECK(ptx_with_list("\t.section\t.debug_str\n\t{\n" + one_a_line("_V_1_SM_800_900"), "800,900", "0000") ==
        "\t.section\t.debug_str\n\t{\n" + one_a_line("_V_1_SM_0000"));
  std::string otherwise = other;  // a layout that is not cicc's
  otherwise.insert(otherwise.find(",105\n.b8"), "\n.b8 105");
  CHECK_FALSE(ptx_with_list(otherwise, "0000", "800,900"));
}
