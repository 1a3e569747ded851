#include "slices/header_sets.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

using Names = std::vector<std::string>;

constexpr int64_t k_long_after = int64_t{1} << 62;

// A build folder, and headers of two folders that are not the project's.
struct World {
  FakeFileSystem files;
  World() {
    files.current = "/build";
    for (const char* header : {"/cuda/include/a.h", "/cuda/include/b.h", "/usr/include/c.h"})
      files.add_file(header, header);
  }
  Names name(const Names& read, int64_t begin_ns = k_long_after) {
    return name_header_sets(read, begin_ns, files).value();
  }
  std::string time_of(const std::string& path) const { return files.identity(path)->text(); }
  void renew() { REQUIRE(renew_header_sets("/build", files)); }
};

const Names k_read = {"pack/x.cu", "/cuda/include/a.h", "/usr/include/c.h", "/cuda/include/b.h"};

}  // namespace

TEST_CASE(
    "header sets: the project's files stay themselves, the others are named by one file for each folder") {
  World world;
  const Names named = world.name(k_read);
  REQUIRE(named.size() == 3);
  CHECK(named[0] == "pack/x.cu");
  CHECK(named[1].starts_with("tools/headers/cuda_include-"));
  CHECK(named[2].starts_with("tools/headers/usr_include-"));
  for (size_t i = 1; i < named.size(); ++i)
    CHECK(world.files.exists(named[i]));
}

TEST_CASE("header sets: the same headers in any order are the same set, others are another") {
  World world;
  CHECK(world.name({"/cuda/include/b.h", "/cuda/include/a.h", "/cuda/include/a.h"}) ==
        world.name({"/cuda/include/a.h", "/cuda/include/b.h"}));
  CHECK(world.name({"/cuda/include/a.h"}) != world.name({"/cuda/include/a.h", "/cuda/include/b.h"}));
}

TEST_CASE("header sets: one is renewed when a header of it changes, and only then") {
  World world;
  const Names named = world.name(k_read);
  const std::string cuda = world.time_of(named[1]), usr = world.time_of(named[2]);
  world.renew();
  CHECK(world.time_of(named[1]) == cuda);
  world.files.add_file("/cuda/include/b.h", "upgraded");
  world.renew();
  CHECK(world.time_of(named[1]) != cuda);
  CHECK(world.time_of(named[2]) == usr);
  const std::string renewed = world.time_of(named[1]);
  world.renew();
  CHECK(world.time_of(named[1]) == renewed);
}

TEST_CASE("header sets: one with a lost header, a damaged one and a half-written one are removed") {
  const std::vector<std::function<void(FakeFileSystem&, const std::string&)>> losses = {
      [](FakeFileSystem& files, const std::string&) { (void)files.remove_all("/cuda/include/a.h"); },
      [](FakeFileSystem& files, const std::string& set) {
        files.add_file("/cuda/include/d.h", "");
        files.add_file(set, replace_all(files.bytes(set), "a.h", "d.h"));
      },
      [](FakeFileSystem& files, const std::string& set) { files.add_file(set, ""); },
  };
  for (size_t i = 0; i < losses.size(); ++i) {
    INFO("loss " << i);
    World world;
    const Names named = world.name(k_read);
    losses[i](world.files, named[1]);
    world.renew();
    CHECK_FALSE(world.files.exists(named[1]));
    CHECK(world.files.exists(named[2]));
  }
}

TEST_CASE("header sets: a header that changed while it was read stays itself") {
  World world;
  CHECK(world.name({"/cuda/include/a.h"}, 0) == Names{"/cuda/include/a.h"});
  CHECK(world.name({"/cuda/include/none.h"}) == Names{"/cuda/include/none.h"});
}

TEST_CASE("header sets: a new set is no newer than its headers, for Ninja goes by times") {
  World world;
  const Names named = world.name(k_read);
  const int64_t newest = std::max(world.files.identity("/cuda/include/a.h")->ctime_ns,
                                  world.files.identity("/cuda/include/b.h")->ctime_ns);
  CHECK(world.files.identity(named[1])->mtime_ns == newest);
}
