#include "toolkit/stable_answer.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

TEST_CASE("What a compiler says is the same under other names of temporary files and in another folder") {
  const auto said = [](const char* text, const char* folder) { return stable_answer(text, folder); };
  CHECK(said("as -o /tmp/ccAb12Cd.o", "/b") == said("as -o /tmp/ccXy34Zz.o", "/b"));
  CHECK(said("cicc /tmp/tmpxft_00002321_00000000-5.ii", "/b") ==
        said("cicc /tmp/tmpxft_0000ffff_00000000-5.ii", "/b"));
  CHECK(said("clang -o /tmp/null-a1b2c3.o", "/b") == said("clang -o /tmp/null-d4e5f6.o", "/b"));
  CHECK(said("-fdebug-compilation-dir=/w/build -c", "/w/build") == "-fdebug-compilation-dir=. -c");
  CHECK(said("/w/build/x", "/w/build") == "/w/build/x");
  CHECK(said("as -o /tmp/ccAb12Cd.o", "/b") != said("as -k -o /tmp/ccAb12Cd.o", "/b"));
}

TEST_CASE("A file that is there counts by its whole name, however random that looks") {
  FakeFileSystem files;
  files.add_file("/opt/ccAb12Cd", "");
  files.add_file("/opt/ccXy34Zz", "");
  const auto digest = [&](const std::string& text, int code) {
    return digest_of_answer({code, false, text, ""}, "/b", files);
  };
  CHECK(digest("run /opt/ccAb12Cd", 0) != digest("run /opt/ccXy34Zz", 0));
  CHECK(digest("run /tmp/ccAb12Cd", 0) == digest("run /tmp/ccXy34Zz", 0));
  CHECK(digest("", 0) != digest("", 1));
}
