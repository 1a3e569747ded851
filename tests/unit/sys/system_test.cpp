#include "sys/system.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

TEST_CASE("A program is the first executable file of its name on PATH") {
  FakeFileSystem files;
  files.add_directory("/a/nvcc");
  files.add_file("/b/nvcc", "", /*executable=*/false);
  files.add_file("/c/nvcc", "", /*executable=*/true);
  files.add_file("/d/nvcc", "", /*executable=*/true);
  CHECK(find_program(files, "nvcc", "/a:/b::/absent:/c:/d") == Path("/c/nvcc"));
  CHECK_FALSE(find_program(files, "nvcc", "/a:/b"));
  CHECK_FALSE(find_program(files, "nvcc", ""));
  CHECK_FALSE(find_program(files, "", "/c"));
}

TEST_CASE("A name with a slash is not looked up") {
  FakeFileSystem files;
  files.add_file("/c/nvcc", "", /*executable=*/true);
  files.add_file("/b/nvcc", "");
  CHECK(find_program(files, "/c/nvcc", "/nowhere") == Path("/c/nvcc"));
  CHECK_FALSE(find_program(files, "/b/nvcc", "/c"));
  CHECK_FALSE(find_program(files, "c/nvcc", "/"));
}

TEST_CASE("Nothing is run from the current folder by accident") {
  FakeFileSystem files;
  files.add_file("/project/nvcc", "", /*executable=*/true);
  CHECK_FALSE(find_program(files, "nvcc", "::/usr/bin:"));
}

TEST_CASE("The environment is read with values that hold =") {
  ::setenv("DSBUILD_TEST_VARIABLE", "a=b", 1);
  CHECK(read_environment().at("DSBUILD_TEST_VARIABLE") == "a=b");
  ::unsetenv("DSBUILD_TEST_VARIABLE");
  CHECK(read_environment().count("DSBUILD_TEST_VARIABLE") == 0);
}

TEST_CASE("A closed standard descriptor is opened for nothing, and an open one is left alone") {
  const int kept = ::dup(STDOUT_FILENO);
  ::close(STDOUT_FILENO);
  open_standard_descriptors();
  const bool writable = ::write(STDOUT_FILENO, "", 0) == 0;
  const int next = ::dup(STDIN_FILENO);
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(next);
  CHECK_FALSE(writable);
  CHECK(next > STDERR_FILENO);
}
