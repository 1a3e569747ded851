#include "slices/position_readers.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

namespace {

using Files = std::set<std::string>;

// A header with a function that reads the line of whoever calls it, and code of another file.
std::optional<Files> read_in(const std::string& header, const std::string& code) {
  return files_whose_lines_are_read("# 1 \"a.h\"\n" + header + "\n# 1 \"a.cu\"\n" + code +
                                    "\n# 1 \"b.cu\"\nint b;\n");
}

const std::string k_member =
    "struct __attribute__((visibility)) Place {\n  int line;\n  static constexpr Place current(\n"
    "      const char* f = __builtin_FILE(), const int line = __builtin_LINE()) noexcept { return {line}; "
    "}\n};";
const std::string k_function = "static int here(int line = __builtin_LINE()) { return line; }";

}  // namespace

TEST_CASE("slices: lines count in files that call what reads them") {
  const Files header = {"\"a.h\""}, both = {"\"a.cu\"", "\"a.h\""};
  CHECK(files_whose_lines_are_read("# 1 \"a.cu\"\nint a;\n") == Files{});
  CHECK(read_in(k_member, "int a;") == header);
  CHECK(read_in(k_function, "int f(int there) { return there; }") == header);
  for (const std::string code :
       {"void f() { log(\"x\"); g(Place::current()); }", "int f(Place p) { return p.current().line; }",
        "int f() {\n# 7 \"a.cu\"\n  return Place :: current\n().line; }",
        "void f() { if (a >= 2) g(P::current()); }"})
    CHECK(read_in(k_member, code) == both);
  for (const std::string code : {"int f() { return here(); }", "int f() { return (here)(); }",
                                 "int f() { do { g(); } while (here() == 3); }"})
    CHECK(read_in(k_function, code) == both);
}

TEST_CASE("slices: a friend is called without the name of a type") {
  const std::string header =
      "struct A { friend Place current(A a, int l = __builtin_LINE()) { return {l}; } };";
  CHECK(read_in(header, "Place f() { return current(a); }") == Files{"\"a.cu\"", "\"a.h\""});
}

TEST_CASE("slices: names of others are no calls of a member") {
  for (const std::string code :
       {"template <class T = int> struct It { It() : a(), current() {} int current; };",
        "void f(int current) { int a = current; g(current); }", "int current();"})
    CHECK(read_in(k_member, code) == Files{"\"a.h\""});
}

TEST_CASE("slices: any line may be read where a call may be a default, or the builtin stands elsewhere") {
  for (const std::string code :
       {"void f(Place p = Place::current());", "struct A { Place p = Place::current(); };",
        "struct A { Place p{Place::current()}; };", "void f(Place p = g(\"a;b\", Place::current()));",
        "struct A { A(int a, Place p = h(1).with(P::current())); };",
        "auto f = [](Place p = P::current()) {};", "Place p = Q{1}.with(Place::current());",
        "struct B : Place { int f(int a = current().line); };", "struct B : A, Place {};",
        "class B : public Place {};", "using Other = Place;", "typedef Place Other;"})
    CHECK(read_in(k_member, code) == std::nullopt);
  CHECK(read_in(k_function, "int f(int line = here());") == std::nullopt);
  for (const std::string code :
       {"struct A { A(int line = __builtin_LINE()); };",
        "struct A { explicit A(int line = __builtin_LINE()); };",
        "struct A { int line = __builtin_LINE(); };", "int f() { return __builtin_LINE(); }",
        "struct A { int operator()(int l = __builtin_LINE()); };",
        "auto f = [](int l = __builtin_LINE()) {};", "template <int l = __builtin_LINE()> int f();",
        "int f(int l = 1 + __builtin_LINE());",
        "struct A { int f(A* a, int l = __builtin_COLUMN()); A(int = __builtin_COLUMN()); };"})
    CHECK(read_in("", code) == std::nullopt);
}
