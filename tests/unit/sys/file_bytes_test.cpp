// Files of which parts are read. Golden: the bytes that were written.
#include <catch2/catch.hpp>
#include <filesystem>

#include "sys/watched_files.h"
#include "temporary_folder.h"

using namespace dsbuild;

TEST_CASE("A part of a file is read where it lies, and a file that became shorter is an error") {
  const TemporaryFolder folder;
  const auto files = make_real_file_system();
  const Path path = folder.path() / "file";
  REQUIRE(files->write_file(path, "0123456789"));
  const auto file = files->open(path);
  REQUIRE(file);
  CHECK((*file)->size() == 10);
  CHECK(*(*file)->read(3, 4) == "3456");
  CHECK(*(*file)->read(10, 0) == "");
  const ByteRange part = *ByteRange(**file).part(2, 5);
  CHECK(*part.read(1, 100) == "3456");
  CHECK(*part.read(5, 1) == "");
  CHECK(part.part(1, 4)->begin() == 3);
  CHECK_FALSE(part.part(1, 5));
  CHECK_FALSE(part.part(6, 0));
  CHECK_FALSE(part.holds(~uint64_t{0}, 2));
  std::filesystem::resize_file(path, 4);
  const auto short_read = (*file)->read(3, 4);
  REQUIRE_FALSE(short_read);
  CHECK(short_read.error().what == "reading: it became shorter while it was read");
  CHECK(short_read.error().where == path.string());
}

TEST_CASE("What is no regular file is not opened") {
  const TemporaryFolder folder;
  const auto files = make_real_file_system();
  CHECK(files->open(folder.path()).error().what == "reading: Is a directory");
  CHECK(files->open(folder.path() / "absent").error().what == "reading: No such file or directory");
}

TEST_CASE("A disk that only reads whole files gives parts of them too") {
  const TemporaryFolder folder;
  const auto files = make_real_file_system();
  REQUIRE(files->write_file(folder.path() / "file", "0123456789"));
  WatchedFiles watched(*files);
  const auto file = watched.open(folder.path() / "file");
  REQUIRE(file);
  CHECK((*file)->size() == 10);
  CHECK(*(*file)->read(3, 4) == "3456");
  CHECK(watched.answers().size() == 1);
}
