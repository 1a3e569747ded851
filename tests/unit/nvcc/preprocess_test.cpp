#include "nvcc/preprocess.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "inputs/preprocessor_words.h"

using namespace dsbuild;

namespace {

using Words = std::vector<std::string>;

struct PreprocessWorld {
  FakeFileSystem files;
  FakeProcessRunner processes;
  System system{files, processes, {}, {}};

  explicit PreprocessWorld(const std::string& text) {
    processes.on({"g++"}, [text](const Command&) { return FakeProcessRunner::succeeded(text); });
  }
};

}  // namespace

TEST_CASE("a compile command is preprocessed with its comments, and writes the depfile that it names") {
  PreprocessWorld world("text");
  const Words compile = {"g++", "-DA", "-MD", "-MF", "k.o.d", "-MT", "k.o", "-c", "k.cpp", "-o", "k.o.tmp"};
  CHECK(preprocessed_text(compile, world.system) == "text");
  REQUIRE(world.processes.started.size() == 1);
  CHECK(world.processes.started[0].argv ==
        Words{"g++", "-DA", "-MD", "-MF", "k.o.d", "-MT", "k.o", "-E", "k.cpp", "-C"});
}

TEST_CASE("the header that is included by force has no name in the text") {
  PreprocessWorld world("# 1 \"./pch/a/torch.h\" 1\nint torch;\n");
  CHECK(preprocessed_text({"g++", "-include", "pch/a/torch.h", "-c", "k.cpp"}, world.system) ==
        "# 1 \"./\" 1\nint torch;\n");
}

TEST_CASE("a preprocessor that fails, and a text longer than is kept, are no text") {
  PreprocessWorld failing("");
  failing.processes.on({"g++"}, [](const Command&) {
    ProcessResult result;
    result.exit_code = 1;
    return result;
  });
  CHECK_FALSE(preprocessed_text({"g++", "-c", "k.cpp"}, failing.system));
  PreprocessWorld longest(std::string(k_kept_output, 'x'));
  CHECK_FALSE(preprocessed_text({"g++", "-c", "k.cpp"}, longest.system));
}

TEST_CASE("macros, include folders and headers by force are the preprocessor's words alone") {
  CHECK(words_behind_preprocessor({"g++", "-DA", "-D", "B", "-UC", "-I", "inc", "-Iother", "-isystem", "sys",
                                   "-include", "x.h", "-O2", "-fPIC", "-c", "k.cpp"}) ==
        Words{"g++", "-O2", "-fPIC", "-c", "k.cpp"});
}
