#include "base/diagnostics.h"

#include "base/text.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

Diagnostic only(std::string_view output) {
  const auto all = parse_diagnostics(output);
  REQUIRE(all.size() == 1);
  return all.front();
}

}  // namespace

// The texts are what nvcc 13.0, gcc 12 and GNU ld 2.40 print.
TEST_CASE("An error of nvcc's front end has its source line and caret, and counts are left out") {
  const auto all = parse_diagnostics(
      "pack/a.cu(5): error: identifier \"undefined_name\" is undefined\n"
      "    float y = undefined_name + x[0];\n"
      "              ^\n"
      "\n"
      "pack/a.cu(7): error: expected a \";\"\n"
      "  }\n"
      "  ^\n"
      "\n"
      "2 errors detected in the compilation of \"pack/a.cu\".\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0] == Diagnostic{Severity::error,
                             {"pack/a.cu", 5, 0},
                             "identifier \"undefined_name\" is undefined",
                             "pack/a.cu(5): error: identifier \"undefined_name\" is undefined\n"
                             "    float y = undefined_name + x[0];\n"
                             "              ^\n"});
  CHECK(all[1].place == Place{"pack/a.cu", 7, 0});
}

TEST_CASE("A warning of nvcc's front end keeps its number, and the hint how to suppress it is left out") {
  const Diagnostic warning = only(
      "pack/w.cu(2): warning #177-D: variable \"unused\" was declared but never referenced\n"
      "    int unused;\n"
      "        ^\n"
      "\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n"
      "\n");
  CHECK(warning.severity == Severity::warning);
  CHECK(warning.message == "#177-D: variable \"unused\" was declared but never referenced");
  CHECK(split_lines(warning.text).size() == 3);
}

TEST_CASE("What leads to an error of gcc is part of it, and so are notes") {
  const auto all = parse_diagnostics(
      "pack/b.cpp:2:2: warning: #warning \"old\" [-Wcpp]\n"
      "    2 | #warning \"old\"\n"
      "      |  ^~~~~~~\n"
      "In file included from pack/b.cpp:1:\n"
      "pack/h.h: In instantiation of ‘T twice(T) [with T = int]’:\n"
      "pack/b.cpp:3:48:   required from here\n"
      "pack/h.h:1:66: error: request for member ‘nothing’ in ‘x’, which is of non-class type ‘int’\n"
      "    1 | template <class T> T twice(T x) { return x.nothing * 2; }\n"
      "      |                                          ~~^~~~~~~\n"
      "pack/h.h:1:22: note: candidate: ‘T twice(T)’\n"
      "    1 | template <class T> T twice(T x) { return x.nothing * 2; }\n"
      "pack/m.cu:1:10: fatal error: absent.h: No such file or directory\n"
      "    1 | #include \"absent.h\"\n"
      "      |          ^~~~~~~~~~\n"
      "compilation terminated.\n");
  REQUIRE(all.size() == 3);
  CHECK(all[0].severity == Severity::warning);
  CHECK(all[0].place == Place{"pack/b.cpp", 2, 2});
  CHECK(all[1].severity == Severity::error);
  CHECK(all[1].place == Place{"pack/h.h", 1, 66});
  CHECK(all[1].text.starts_with("In file included from pack/b.cpp:1:\n"));
  CHECK(split_lines(all[1].text).size() == 8);
  CHECK(all[2].message == "absent.h: No such file or directory");
  CHECK(split_lines(all[2].text).size() == 3);
}

TEST_CASE("Tools of CUDA say errors, too, without a place of ours") {
  const auto all = parse_diagnostics(
      "ptxas w.compute_80.ptx, line 39; error   : Unknown modifier '.instr'\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "nvcc fatal   : Unknown option '-foo'\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n");
  REQUIRE(all.size() == 4);
  for (size_t i = 0; i < 3; ++i)
    CHECK(all[i].severity == Severity::error);
  CHECK(all[0].message == "Unknown modifier '.instr'");
  CHECK(all[0].place == Place{});
  CHECK(all[3].severity == Severity::note);
}

TEST_CASE("The linker's lines are errors") {
  const auto all = parse_diagnostics(
      "/usr/bin/ld: /tmp/ccOhfVfM.o: in function `main':\n"
      "c.cpp:(.text+0x5): undefined reference to `f()'\n"
      "/usr/bin/ld: cannot find -labsent: No such file or directory\n"
      "collect2: error: ld returned 1 exit status\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].severity == Severity::error);
  CHECK(all[0].message == "undefined reference to `f()'");
  CHECK(all[0].text.starts_with("/usr/bin/ld: /tmp/ccOhfVfM.o: in function `main':\n"));
  CHECK(all[1].message == "cannot find -labsent: No such file or directory");
}

TEST_CASE("A note that names an error is none") {
  CHECK(only("a.cpp:3:1: note: see error: x\n").severity == Severity::note);
}

TEST_CASE("Nothing that a tool says is lost") {
  const Diagnostic text = only("something else\nof two lines\n");
  CHECK(text.severity == Severity::note);
  CHECK(text.text == "something else\nof two lines\n");
  CHECK(only("In file included from a.h:1:\n").text == "In file included from a.h:1:\n");
  CHECK(parse_diagnostics("").empty());
}
