#include "toolkit/host_compiler.h"

#include <catch2/catch.hpp>

#include "unit/toolkit/machine.h"

using namespace dsbuild;

namespace {

using Names = std::vector<std::string>;

Names names(const std::vector<HostCompiler>& compilers) {
  Names all;
  for (const HostCompiler& compiler : compilers) {
    all.push_back(compiler.origin + " " + compiler.path.string() + " " + compiler.family + " " +
                  compiler.version.text());
  }
  return all;
}

HostCompiler compiler(const std::string& family, const std::string& version) {
  return {"/usr/bin/x", family, parse_version(version).value(), "PATH"};
}

}  // namespace

TEST_CASE("A toolkit's header gives the last accepted gcc and clang") {
  const auto [version, gcc, clang] = GENERATE(
      table<std::string, int, int>({{"11.8", 11, 14}, {"12.4", 13, 17}, {"12.8", 14, 19}, {"13.0", 15, 20}}));
  const HostCompilerBounds bounds =
      parse_host_config(test_file(toolkit_data(version) / "include/crt/host_config.h"));
  CHECK(bounds.gcc_max == gcc);
  CHECK(bounds.clang_max == clang);
}

// The first major that torch.utils.cpp_extension 2.15 refuses (CUDA_GCC_VERSIONS). Its clang bound for 12.8
// and 12.9 is one below CUDA's own; torch's lower bounds are below what its headers ask for
// (requirements/torch_test.cpp).
TEST_CASE("The gcc that torch's builder refuses for a CUDA version is the first that its header refuses") {
  const auto [version, refused] =
      GENERATE(table<std::string, int>({{"12.4", 14}, {"12.8", 15}, {"12.9", 15}, {"13.0", 16}}));
  const Path header = toolkit_data(version) / "include/crt/host_config.h";
  CHECK(parse_host_config(test_file(header)).gcc_max + 1 == refused);
}

// The lines of CUDA 13.0's own header around the bounds: other compilers' bounds stand before them.
TEST_CASE("Bounds of other compilers in the header are not taken for clang's") {
  const HostCompilerBounds bounds = parse_host_config(
      "#error -- unsupported Grace clang version! The version must be 16.x to 20.x. The nvcc flag\n"
      "#error -- unsupported GNU version! gcc versions later than 15 are not supported! The nvcc flag\n"
      "#error -- unsupported HOS clang version! The version must be must be less than 19 and greater than "
      "3.2 .\n"
      "#error -- unsupported clang version! clang version must be less than 21 and greater than 3.2 . The\n");
  CHECK(bounds == HostCompilerBounds{15, 20});
  CHECK(bounds.text() == "gcc <= 15, clang <= 20");
}

TEST_CASE("A compiler is accepted up to the bound of its family") {
  const HostCompilerBounds bounds{11, 14};
  CHECK(bounds.accepts(compiler("gcc", "11.4.0")));
  CHECK_FALSE(bounds.accepts(compiler("gcc", "12.1.0")));
  CHECK(bounds.accepts(compiler("clang", "14.0.6")));
  CHECK_FALSE(bounds.accepts(compiler("clang", "15.0.0")));
}

TEST_CASE("A header without bounds accepts every gcc and clang") {
  const HostCompilerBounds bounds = parse_host_config("#error -- something else\n");
  CHECK(bounds == HostCompilerBounds{});
  CHECK(bounds.accepts(compiler("gcc", "99.0")));
  CHECK(bounds.text() == "any gcc or clang");
}

TEST_CASE("Family and version are read from the first line of --version") {
  const auto [says, name] = GENERATE(table<std::string, std::string>({
      {gcc_says("12.2.0"), "PATH /usr/bin/g++ gcc 12.2.0"},
      {"g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-28)\nCopyright (C) 2018 Free Software Foundation, Inc.\n",
       "PATH /usr/bin/g++ gcc 8.5.0"},
      {"x86_64-conda-linux-gnu-c++ (conda-forge gcc 13.3.0-1) 13.3.0\nCopyright (C) Free Software "
       "Foundation\n",
       "PATH /usr/bin/g++ gcc 13.3.0"},
      {clang_says("14.0.6"), "PATH /usr/bin/g++ clang 14.0.6"},
      {"clang version 19.1.7 (https://example.org 0123)\n", "PATH /usr/bin/g++ clang 19.1.7"},
      {"Ubuntu clang version 18.1.3 (1ubuntu1)\n", "PATH /usr/bin/g++ clang 18.1.3"},
  }));
  Machine machine;
  machine.add_compiler("/usr/bin/g++", says);
  CHECK(names(machine.find_compilers()) == Names{name});
}

TEST_CASE("What is neither gcc nor clang, or does not run, is no host compiler") {
  Machine machine;
  machine.add_compiler("/usr/bin/g++", "icpx (Intel) 2024.1\n");
  machine.add_compiler("/usr/bin/clang++", "");
  machine.files.add_file("/usr/bin/g++-12", "broken", true);
  machine.processes.on({"/usr/bin/g++-12"}, FakeProcessRunner::failed("cannot execute", 126));
  machine.files.add_file("/usr/bin/g++-11", "not executable");
  CHECK(names(machine.find_compilers()).empty());
}

TEST_CASE("Variables come first, then g++, g++-N from the highest, then clang++") {
  Machine machine;
  machine.set("PATH", "/usr/bin:/opt/bin");
  machine.add_compiler("/usr/bin/g++", gcc_says("12.2.0"));
  machine.add_compiler("/usr/bin/g++-9", gcc_says("9.5.0"));
  machine.add_compiler("/opt/bin/g++-11", gcc_says("11.4.0"));
  machine.add_compiler("/opt/bin/g++-13", gcc_says("13.1.0"));
  machine.add_compiler("/usr/bin/clang++-14", clang_says("14.0.6"));
  machine.add_compiler("/usr/bin/clang++", clang_says("19.1.7"));
  machine.add_compiler("/usr/bin/g++-11-plugin", gcc_says("1.0"));
  machine.add_compiler("/home/user/gcc/bin/g++", gcc_says("10.2.0"));
  machine.add_compiler("/home/user/llvm/bin/clang++", clang_says("16.0.0"));
  machine.set("CXX", "ccache /home/user/llvm/bin/clang++ -m64");
  machine.set("CUDAHOSTCXX", "/home/user/gcc/bin/g++");
  CHECK(names(machine.find_compilers()) == Names{
                                               "CUDAHOSTCXX /home/user/gcc/bin/g++ gcc 10.2.0",
                                               "CXX /home/user/llvm/bin/clang++ clang 16.0.0",
                                               "PATH /usr/bin/g++ gcc 12.2.0",
                                               "PATH /opt/bin/g++-13 gcc 13.1.0",
                                               "PATH /opt/bin/g++-11 gcc 11.4.0",
                                               "PATH /usr/bin/g++-9 gcc 9.5.0",
                                               "PATH /usr/bin/clang++ clang 19.1.7",
                                               "PATH /usr/bin/clang++-14 clang 14.0.6",
                                           });
}

TEST_CASE("A compiler that is reached by several names appears once") {
  Machine machine;
  machine.add_compiler("/usr/bin/g++-12", gcc_says("12.2.0"));
  machine.files.add_link("/usr/bin/g++", "g++-12");
  machine.processes.on({"/usr/bin/g++", "--version"}, gcc_says("12.2.0"));
  machine.files.add_link("/bin", "/usr/bin");
  machine.set("PATH", "/usr/bin:/bin");
  machine.set("CXX", "g++-12");
  CHECK(names(machine.find_compilers()) == Names{"CXX /usr/bin/g++-12 gcc 12.2.0"});
  CHECK(machine.questions() == 1);
}

TEST_CASE("A compiler cache under a compiler's name is passed over") {
  Machine machine;
  machine.set("PATH", "/usr/lib/ccache:/usr/bin");
  machine.add_compiler("/usr/bin/ccache", "ccache version 4.7.5\n");
  machine.files.add_link("/usr/lib/ccache/g++", "/usr/bin/ccache");
  machine.processes.on({"/usr/lib/ccache/g++", "--version"}, gcc_says("12.2.0"));
  machine.add_compiler("/usr/bin/g++", gcc_says("12.2.0"));
  CHECK(names(machine.find_compilers()) == Names{"PATH /usr/bin/g++ gcc 12.2.0"});
}

TEST_CASE("Each compiler is asked once; again only when its file has changed") {
  Machine machine;
  machine.add_compiler("/usr/bin/g++", gcc_says("12.2.0"));
  machine.add_compiler("/usr/bin/clang++", clang_says("14.0.6"));
  const auto first = machine.find_compilers();
  CHECK(machine.questions() == 2);
  CHECK(machine.find_compilers() == first);
  CHECK(machine.questions() == 2);
  machine.add_compiler("/usr/bin/g++", gcc_says("12.3.0"));
  CHECK(machine.find_compilers().at(0).version.text() == "12.3.0");
  CHECK(machine.questions() == 3);
}
