#include "slices/header_names.h"

#include <catch2/catch.hpp>

#include "../../fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

std::string digest(FakeFileSystem& files, const std::set<std::string>& folders) {
  return HeaderNames("/there", files).digest(folders);
}

}  // namespace

TEST_CASE("the project's folders are the source's and those of the options, however they are spelled") {
  const std::vector<std::string> flags = {"-Ipack/include", "-isystem", "pack/third", "-I/usr/include", "-I",
                                          "pack/other",     "-DX=pack", "-O3"};
  CHECK(project_folders("pack/adam/adam.cu", flags) ==
        std::set<std::string>{"pack/adam", "pack/include", "pack/other", "pack/third"});
}

TEST_CASE("a new file at any depth changes the digest, its content does not, and a hidden one is none") {
  FakeFileSystem files;
  files.add_file("/there/include/a.h", "1");
  files.add_file("/there/include/sub/b.h", "1");
  const std::set<std::string> folders = {"pack/include"};
  const std::string before = digest(files, folders);
  files.add_file("/there/include/a.h", "2");
  files.add_file("/there/include/.a.h.swp", "");
  files.add_file("/there/include/a.h~", "");
  files.add_file("/there/elsewhere/c.h", "");
  CHECK(digest(files, folders) == before);
  files.add_file("/there/include/sub/c.h", "");
  const std::string deeper = digest(files, folders);
  CHECK(deeper != before);
  files.add_file("/there/include/c.h", "");
  CHECK(digest(files, folders) != deeper);
}

TEST_CASE("a folder that is not there yet is seen when it comes") {
  FakeFileSystem files;
  const std::set<std::string> folders = {"pack/include"};
  const std::string before = digest(files, folders);
  files.add_file("/there/include/a.h", "");
  CHECK(digest(files, folders) != before);
}

TEST_CASE("names in a build folder are no headers, and when a name came is known at any depth") {
  FakeFileSystem files;
  files.add_file("/there/include/sub/a.h", "");
  files.add_file("/there/include/build/dsbuild-build-folder", "");
  const std::set<std::string> folders = {"pack/include"};
  const std::string before = digest(files, folders);
  files.add_file("/there/include/build/pack/b.h", "");
  CHECK(digest(files, folders) == before);
  const auto last_change = [&] { return HeaderNames("/there", files).last_change_ns(folders); };
  REQUIRE(files.set_mtime("/there/include/build", 2'000'000));
  CHECK(last_change() < 1'000'000);
  REQUIRE(files.set_mtime("/there/include/sub", 1'000'000));
  CHECK(last_change() == 1'000'000);
}
