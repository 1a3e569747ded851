#include "nvcc/preprocess.h"

#include <catch2/catch.hpp>

#include "base/args.h"
#include "inputs/preprocessor_words.h"

using namespace dsbuild;

TEST_CASE("a compile command is preprocessed with its comments, and writes the depfile that it names") {
  const Args compile = {"g++", "-DA", "-MD", "-MF", "k.o.d", "-MT", "k.o", "-c", "k.cpp", "-o", "k.o.tmp"};
  CHECK(preprocess_command(compile) ==
        Args{"g++", "-DA", "-MD", "-MF", "k.o.d", "-MT", "k.o", "-E", "k.cpp", "-C"});
  CHECK(preprocessed_text(compile, ProcessResult{0, false, "text", ""}) == "text");
}

TEST_CASE("the header that is included by force has no name in the text") {
  CHECK(preprocessed_text({"g++", "-include", "pch/a/torch.h", "-c", "k.cpp"},
                          ProcessResult{0, false, "# 1 \"./pch/a/torch.h\" 1\nint torch;\n", ""}) ==
        "# 1 \"./\" 1\nint torch;\n");
}

TEST_CASE("a preprocessor that fails, and a text longer than is kept, are no text") {
  const Args compile = {"g++", "-c", "k.cpp"};
  CHECK_FALSE(preprocessed_text(compile, ProcessResult{1, false, "text", ""}));
  CHECK_FALSE(preprocessed_text(compile, ProcessResult{0, false, std::string(k_kept_output, 'x'), ""}));
  CHECK_FALSE(preprocessed_text(compile, fail(Exit::unmet, "cannot_start", "g++", "is not there")));
}

TEST_CASE("macros, include folders and headers by force are the preprocessor's words alone") {
  CHECK(words_behind_preprocessor({"g++", "-DA", "-D", "B", "-UC", "-I", "inc", "-Iother", "-isystem", "sys",
                                   "-include", "x.h", "-O2", "-fPIC", "-c", "k.cpp"}) ==
        Args{"g++", "-O2", "-fPIC", "-c", "k.cpp"});
}
