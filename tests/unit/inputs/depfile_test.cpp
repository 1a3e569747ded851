#include "inputs/depfile.h"

#include <catch2/catch.hpp>

using namespace dsbuild;

using Files = std::vector<std::string>;

// The texts are gcc 12's own (`g++ -MD`), but for the paths.
TEST_CASE("A depfile's files are read as gcc quotes them") {
  CHECK(files_in_depfile("a.o: a.cpp b.h\n") == Files{"a.cpp", "b.h"});
  CHECK(files_in_depfile("a.o: a.cpp \\\n b.h\n") == Files{"a.cpp", "b.h"});
  CHECK(files_in_depfile("a.o: a\\ b.h a\\#b.h a$$b.h a\\:b.h\n") ==
        Files{"a b.h", "a#b.h", "a$b.h", "a:b.h"});
  CHECK(files_in_depfile("a.o: a\\b.h a'b.h a;b.h\n") == Files{"a\\b.h", "a'b.h", "a;b.h"});
}

TEST_CASE("Backslashes before a blank are halved, others are not") {
  CHECK(files_in_depfile("a.o: a\\\\\\ b.h\n") == Files{"a\\ b.h"});
  CHECK(files_in_depfile("a.o: a\\\\b.h c\n") == Files{"a\\\\b.h", "c"});
  CHECK(files_in_depfile("a.o: a\\\\ b.h\n") == Files{"a\\", "b.h"});
}

TEST_CASE("A colon in a name does not end the target") {
  CHECK(files_in_depfile("a.o: pack/a:b.h\n") == Files{"pack/a:b.h"});
}

TEST_CASE("nvcc sets a blank before the colon") {
  CHECK(files_in_depfile("x.o : pack/a.cu \\\n    /usr/include/b.h\n") ==
        Files{"pack/a.cu", "/usr/include/b.h"});
}

TEST_CASE("The linker adds a rule without files for each file, and no file is named twice") {
  const auto always = [](const std::string&) { return true; };
  const auto never = [](const std::string&) { return false; };
  const std::string text = "lib/a.so.tmp: \\\n  obj/a.o \\\n  /lib/with space/libc.a\n\nobj/a.o:\n";
  CHECK(files_in_link_depfile(text, always) == Files{"obj/a.o", "/lib/with space/libc.a"});
  CHECK(files_in_link_depfile("a.so: \\\n  /lib/with\\ space/libc.a\n", never) ==
        Files{"/lib/with space/libc.a"});
  CHECK(files_in_depfile(
            "lib/a.so.tmp: \\\n  obj/a.o \\\n  /lib/libc.so.6 obj/a.o\n\nobj/a.o:\n\n/lib/libc.so.6:\n") ==
        Files{"obj/a.o", "/lib/libc.so.6"});
}

TEST_CASE("An assembler's depfile names more than was read") {
  const auto is_there = [](const std::string& file) { return file != "/tmp/ccx.s" && file != "gone.cu"; };
  CHECK(files_in_assembler_depfile("a.o: pack/with\\ space.bin ./x.s pack/a.cpp gone.cu /tmp/ccx.s\n",
                                   is_there) == Files{"pack/with space.bin", "x.s", "pack/a.cpp"});
}

TEST_CASE("An empty depfile names nothing") {
  CHECK(files_in_depfile("").empty());
  CHECK(files_in_depfile("a.o:").empty());
  CHECK(files_in_depfile("a.o: \\").empty());
}
