// Disks of this node, and a folder on one.
#include "sys/node_disk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "sys/file_system.h"
#include "temporary_folder.h"

using namespace dsbuild;

namespace {

std::string own_name() {
  return "dsbuild-" + std::to_string(::geteuid());
}

unsigned mode_of(const Path& path) {
  struct stat status{};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

}  // namespace

TEST_CASE("A disk is asked what it is by the nearest folder that is there") {
  const TemporaryFolder folder;
  CHECK(is_on_own_disk(folder.path()));
  CHECK(is_on_own_disk(folder / "not" / "yet"));
  CHECK_FALSE(is_on_own_disk("/proc/self"));
  CHECK_FALSE(is_on_own_disk("/proc/not/there"));
}

TEST_CASE("The own folder is made for this user alone, and is the same the next time") {
  const TemporaryFolder folder;
  const auto made = make_own_folder({folder.path()});
  REQUIRE(made);
  CHECK(*made == folder / own_name());
  CHECK(mode_of(*made) == 0700);
  CHECK(make_own_folder({folder.path()}) == made);
}

TEST_CASE("What others may enter, a link and a file are no own folder") {
  const TemporaryFolder folder, next;
  const Path taken = folder / own_name();
  SECTION("others may enter") {
    REQUIRE(::mkdir(taken.c_str(), 0755) == 0);
    REQUIRE(::chmod(taken.c_str(), 0755) == 0);
  }
  SECTION("a link") {
    REQUIRE(::mkdir((next / "there").c_str(), 0700) == 0);
    REQUIRE(::symlink((next / "there").c_str(), taken.c_str()) == 0);
  }
  SECTION("a file") {
    REQUIRE(make_real_file_system()->write_file(taken, ""));
  }
  SECTION("another user's") {
    if (::geteuid() != 0) return;
    REQUIRE(::mkdir(taken.c_str(), 0700) == 0);
    REQUIRE(::chown(taken.c_str(), 12345, 12345) == 0);
  }
  const auto refused = make_own_folder({folder.path()});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "unsafe_folder");
  CHECK(refused.error().where == taken.string());
  CHECK(make_own_folder({folder.path(), next.path()}) == next / own_name());
}

TEST_CASE("From /proc nothing is loaded") {
  CHECK_FALSE(make_own_folder({"/proc"}));
}
