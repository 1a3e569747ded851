#include "nvcc/host_text.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

TEST_CASE("slices: bodies of kernels become blank lines in the host's code") {
  const std::string before = "int a;\n#if 0\n# 3 \"k.cu\"\n{ *p = 1; }\n#endif\nint b;\n";
  CHECK(blank_disabled_code(before) == "int a;\n#if 0\n\n\n#endif\nint b;\n");
  CHECK(blank_disabled_code("#if 0\n#if X\nx\n#endif\ny\n# endif\nz") == "#if 0\n\n\n\n\n# endif\nz");
  CHECK(blank_disabled_code("int a;\n#if 1\nint b;\n#endif\n") == "int a;\n#if 1\nint b;\n#endif\n");
  CHECK(blank_disabled_code("#if 01\nx\n#endif\n") == "#if 01\nx\n#endif\n");
  CHECK(blank_disabled_code("").empty());
}

TEST_CASE("slices: a word that ends in R is no raw string") {
  CHECK(blank_disabled_code("f(\"ERROR\");\n#if 0\nx\n#endif\n") == "f(\"ERROR\");\n#if 0\n\n#endif\n");
  const std::string raw = "auto s = u8R\"x(\n#if 0\nx\n#endif\n)x\";\n";
  CHECK(blank_disabled_code(raw + "#if 0\nx\n#endif\n") == raw + "#if 0\n\n#endif\n");
  CHECK(blank_disabled_code("#if 0\nR\"(\n#endif\n)\"\n#endif\n") == "#if 0\n\n\n\n#endif\n");
}

TEST_CASE("slices: code that may be meant is never blanked") {
  for (const std::string text : {"#if 0\na\n#else\nb\n#endif\n", "#if 0\na\n#elif 1\nb\n#endif\n",
                                 "const char* s = R\"(\n#if 0\ntext\n#endif\n)\";\n"})
    CHECK(blank_disabled_code(text) == text);
}
