#include "nvcc/line_normalization.h"

#include <catch2/catch.hpp>

#include "nvcc/code_lines.h"

using namespace dsbuild;

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> found;
  CodeLines lines(text);
  while (const auto line = lines.next())
    found.emplace_back(*line);
  return found;
}

}  // namespace

TEST_CASE("slices: a line goes on where a raw string does") {
  CHECK(lines_of("a\n\nb") == std::vector<std::string>{"a\n", "\n", "b"});
  CHECK(lines_of("f(R\"x(\n)\"\n)x\");\nb\n") == std::vector<std::string>{"f(R\"x(\n)\"\n)x\");\n", "b\n"});
  CHECK(lines_of("u8R\"(a\n)\", LR\"(b\n)\";\nc") ==
        std::vector<std::string>{"u8R\"(a\n)\", LR\"(b\n)\";\n", "c"});
  CHECK(lines_of("R\"(never\nclosed") == std::vector<std::string>{"R\"(never\nclosed"});
}

TEST_CASE("slices: what looks like a raw string and is none ends with its line") {
  for (const std::string line : {"f(\"ERROR\");\n", "f(\"R\", \"(\");\n", "g(\"\\\"R\"(1));\n",
                                 "FOOR\"(x\";\n", "int i = 1'000; f(\"R\"(\n", "h('\"', \"R\"(\n"})
    CHECK(lines_of(line + "b\n") == std::vector<std::string>{line, "b\n"});
}

TEST_CASE("slices: a comment that was kept goes on to its end, and begins no raw string") {
  for (const std::string line : {"// R\"(\n", "a; /* R\"( */ // /*\n", "/*\n R\"(\n*/ b;\n", "\"/*\"\n",
                                 "R\"(/*)\"; /*\n*/ R\"(\n)\";\n"})
    CHECK(lines_of(line + "b\n") == std::vector<std::string>{line, "b\n"});
  CHECK(lines_of("/* never\nclosed") == std::vector<std::string>{"/* never\nclosed"});
}

TEST_CASE("slices: text is the same for keys where lines have moved") {
  const std::string near = "# 1 \"a.cu\"\nint a;\n\n\nint b;\n";
  CHECK(without_positions(near) == without_positions("# 1 \"a.cu\"\nint a;\n# 40 \"a.cu\"\nint b;\n"));
  CHECK(without_positions(near) == without_positions("# 3 \"a.cu\"\n  \nint a;\nint b;\n"));
  CHECK(without_positions(near) == without_positions("# 3 \"a.cu\"\nint a;\n# 5\nint b;\n"));
  const std::string nested = "# 1 \"a.cu\"\n# 1 \"a.h\" 1\nint a;\n# 2 \"a.cu\" 2\nint b;\n";
  CHECK(without_positions(nested) ==
        without_positions("# 1 \"a.cu\"\n# 1 \"a.h\" 1\n# 30 \"a.h\"\nint a;\n# 9 \"a.cu\" 2\nint b;\n"));
}

TEST_CASE("slices: text is another one for keys where something else differs") {
  const std::string text = "# 1 \"a.cu\"\nint a;\n";
  for (const std::string other :
       {"# 1 \"a.cu\"\nint b;\n", "# 1 \"b.cu\"\nint a;\n", "# 1 \"a.cu\" 3\nint a;\n",
        "# 1 \"a.cu\" 3 4\nint a;\n", "# 1 \"a.cu\" 1\nint a;\n", "# 1 \"a.cu\"\nint\na;\n",
        "# 1 \"a.cu\"\n int a;\n", "# 1 \"a.cu\"\n#pragma once\nint a;\n"})
    CHECK(without_positions(text) != without_positions(other));
  CHECK(without_positions("auto a = R\"(\n\n)\";") != without_positions("auto a = R\"(\n)\";"));
  CHECK(without_positions("auto a = R\"(\n# 1 \"a\"\n)\";") !=
        without_positions("auto a = R\"(\n# 2 \"a\"\n)\";"));
}

TEST_CASE("slices: text that may read lines is taken as it is") {
  const std::string place = "# 7 \"a.h\"\n\n", rest = "\n# 3 \"a.cu\"\n\nint a;\n";
  for (const std::string code :
       {"int a = __builtin_LINE();", "int a = __builtin_COLUMN();", "auto a = __builtin_source_location();",
        "struct P { static int current(int l = __builtin_LINE()); };", "using std::source_location;"})
    CHECK(without_positions(place + code + rest) == place + code + rest);
  CHECK(without_positions(place + "int a = __builtin_abs(1);" + rest) ==
        "# \"a.h\"\nint a = __builtin_abs(1);\n# \"a.cu\"\nint a;\n");
}

TEST_CASE("slices: the build folder's files get a root, the others have one") {
  const std::string text =
      "# 0 \"pack/a.cu\"\n# 0 \"<built-in>\"\n# 1 \"/usr/a.h\" 1 3 4\nf(\"# 1 \\\"b\\\"\");\n# 7\n# 2 "
      "\"pack/a.cu\" 2\n";
  CHECK(with_files_below("/top", text) ==
        "# 0 \"/top/pack/a.cu\"\n# 0 \"<built-in>\"\n# 1 \"/usr/a.h\" 1 3 4\nf(\"# 1 \\\"b\\\"\");\n# 7\n"
        "# 2 \"/top/pack/a.cu\" 2\n");
}

TEST_CASE("slices: options with which outputs hold positions are known, and those that are not known count") {
  NvccCommands commands;
  commands.front_end = {"cudafe++", "--gnu_version=120200"};
  commands.host_compile = {"g++", "-c", "-O3", "-fPIC", "-fno-exceptions", "-frandom-seed=1", "-Wall"};
  CHECK(kept_positions(commands) == KeptPositions::none);
  for (const char* word :
       {"-g", "-ggdb", "--coverage", "-fsanitize=undefined", "-fprofile-arcs", "-fnew", "-flto"}) {
    NvccCommands with = commands;
    with.host_compile.push_back(word);
    CAPTURE(word);
    CHECK(kept_positions(with) == KeptPositions::any);
  }
  NvccCommands with_lines = commands;
  with_lines.devices = {{"compute_80", {}, {"cicc", "-generate-line-info"}, {}}};
  CHECK(kept_positions(with_lines) == KeptPositions::device_lines);
  with_lines.host_compile.push_back("-g");
  CHECK(kept_positions(with_lines) == KeptPositions::any);
  commands.front_end.push_back("--clang");
  CHECK(kept_positions(commands) == KeptPositions::any);
}
