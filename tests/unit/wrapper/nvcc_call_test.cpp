#include "wrapper/nvcc_call.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/text.h"

namespace dsbuild {
namespace {

tl::expected<NvccCall, NotSliced> read_line(const std::string& line,
                                            const std::map<std::string, std::string>& files = {}) {
  return read_nvcc_call(shell_split(line), [&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string why_left(const std::string& line) {
  const auto call = read_line(line);
  return call ? "" : call.error().why;
}

}  // namespace

TEST_CASE("A compile of one source is read, however its options are spelled") {
  for (const char* line : {"-O3 -gencode arch=compute_80,code=sm_80 -c a.cu -o b.o",
                           "-O3 -gencode arch=compute_80,code=sm_80 --compile --output-file=b.o a.cu",
                           "a.cu -o=b.o -O3 -c -gencode arch=compute_80,code=sm_80 -t 4",
                           "--output-file b.o a.cu -O3 --threads=2 -c -gencode arch=compute_80,code=sm_80"}) {
    const auto call = read_line(line);
    INFO(line);
    REQUIRE(call);
    CHECK(call->source == "a.cu");
    CHECK(call->object == "b.o");
    CHECK(call->flags == Args{"-O3", "-gencode", "arch=compute_80,code=sm_80"});
    CHECK(call->kept == NvccCall::Kept::sliced);
    CHECK_FALSE(call->depfile);
  }
}

TEST_CASE("Without -o the object lies in the current folder") {
  CHECK(read_line("-c ../csrc/a.b.cu")->object == "a.b.o");
}

TEST_CASE("What begins as an option with its value joined is not always one") {
  CHECK(read_line("-c a.cu -lineinfo -lfoo -Lfolder -DX=1 -D Y -Iinc -I=inc -m64")->flags ==
        Args{"-lineinfo", "-lfoo", "-Lfolder", "-DX=1", "-D", "Y", "-Iinc", "-I=inc", "-m64"});
  CHECK(read_line("-c a.cu -lto")->why_whole == "is optimised in the link (-lto)");
  CHECK(why_left("-lib a.o -o b.a") == "asks for --lib");
}

TEST_CASE("Depfiles are named as nvcc names them") {
  const auto depfile = [](const std::string& words) {
    return *read_line("-c a.cu -o out/b.o " + words)->depfile;
  };
  CHECK(depfile("-MD") == DepfileWanted{"out/b.d", "out/b.o", false, false});
  CHECK(depfile("-MMD -MP") == DepfileWanted{"out/b.d", "out/b.o", true, true});
  CHECK(depfile("-MF x.d -MD") == DepfileWanted{"x.d", "out/b.o", false, false});
  CHECK(depfile("--generate-dependencies-with-compile --dependency-output x.d -MT t") ==
        DepfileWanted{"x.d", "t", false, false});
  CHECK(why_left("-c a.cu -MF x.d") == "a depfile's options without -MD");
  CHECK(why_left("-c a.cu -MD -MMD") == "two kinds of depfile");
}

TEST_CASE("What is no compile of one CUDA source is left to nvcc, without a word to the user") {
  const std::map<std::string, std::string> lines = {{"--version", "asks for --version"},
                                                    {"-ptx a.cu", "asks for --ptx"},
                                                    {"-c --dryrun a.cu", "asks for --dryrun"},
                                                    {"a.o b.o -o c", "does not compile to an object (-c)"},
                                                    {"-c a.cu b.cu", "2 inputs"},
                                                    {"-c", "0 inputs"},
                                                    {"-c a.cpp", "the source is not a CUDA source"},
                                                    {"-c -x c++ a.cu", "the source is not a CUDA source"}};
  for (const auto& [line, why] : lines) {
    const auto call = read_line(line);
    INFO(line);
    REQUIRE_FALSE(call);
    CHECK(call.error() == NotSliced{why, false});
  }
}

TEST_CASE("A compile that is left to nvcc says why") {
  const std::map<std::string, std::string> lines = {
      {"-c a.cu --keep", "keeps files of its steps (--keep)"},
      {"-c a.cu -Xcompiler -save-temps", "the host compiler is given -save-temps"},
      {"-c a.cu -o /dev/null", "the object is not a file"},
      {"-c a.cu -arch=native", "its archs are those of the machine, or for the link (-arch=native)"},
      {"-c 'a$b.cu'", "a word has a character that shells read: a$b.cu"},
      {"-c a.cu -o x.o -o y.o", "two objects, or an empty one"},
      {"-c a.cu --options-file none", "a file of options that cannot be read here: none"}};
  for (const auto& [line, why] : lines) {
    const auto call = read_line(line);
    INFO(line);
    REQUIRE_FALSE(call);
    CHECK(call.error().why == why);
  }
  CHECK(read_line("-c a.cu --keep").error().is_compile);
}

TEST_CASE("Compiles that slices do not stand for are kept whole") {
  using enum NvccCall::Kept;
  CHECK(read_line("-dc a.cu")->kept == whole);
  CHECK(read_line("-c -rdc=true a.cu")->kept == whole);
  CHECK(read_line("-c -rdc=false a.cu")->kept == sliced);
  CHECK(read_line("-c -G a.cu")->kept == whole);
  CHECK(read_line("-c -G -rdc=true a.cu")->kept == whole);
  CHECK(read_line("-c -lineinfo a.cu")->kept == sliced);
  CHECK(read_line("-c -rdc true a.cu")->why_whole == "makes relocatable device code (-rdc true)");
}

TEST_CASE("Files of options count as the words in them") {
  const auto call = read_line("-c -optf more a.cu", {{"more", "-O2\n-o x.o\n"}});
  REQUIRE(call);
  CHECK(call->flags == Args{"-O2"});
  CHECK(call->object == "x.o");
  CHECK_FALSE(read_line("-c -optf more a.cu", {{"more", "-DX='a b'\n"}}));
  CHECK_FALSE(read_line("-c -optf more a.cu", {{"more", "-optf more\n"}}));
}

// As nvcc 13.0 wrote it.
TEST_CASE("A depfile in nvcc's form") {
  const std::vector<std::string> names = {"a.cu", "/usr/include/x.h", "in/with blank.h"};
  CHECK(*render_nvcc_depfile({"", "out/a.o", false, false}, names) ==
        "out/a.o : a.cu \\\n    /usr/include/x.h \\\n    in/with\\ blank.h\n");
  CHECK(*render_nvcc_depfile({"", "t", false, true}, names) ==
        "t : a.cu \\\n    /usr/include/x.h \\\n    in/with\\ blank.h\n\n/usr/include/x.h:\n\nin/with\\ "
        "blank.h:\n");
  CHECK_FALSE(render_nvcc_depfile({"", "t", false, false}, {"a\\\"b.cu"}));
}

}  // namespace dsbuild
