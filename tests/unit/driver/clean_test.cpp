#include "driver/clean.h"

#include <catch2/catch.hpp>

#include "unit/driver/build_world.h"

using namespace dsbuild;

namespace {

Result<std::vector<Path>> clean(BuildWorld& world, bool with_bundle) {
  return clean(world.request(), with_bundle, *world.files, world.events);
}

}  // namespace

TEST_CASE("The build folder goes, the bundle and the cache stay") {
  BuildWorld world;
  REQUIRE(world.build());
  const auto bundle = world.bundle();
  const auto removed = clean(world, false);
  REQUIRE(removed);
  CHECK(*removed == std::vector<Path>{world.settings.build_dir.value});
  CHECK(world.files->kind(world.settings.build_dir.value) == FileKind::absent);
  CHECK(world.bundle() == bundle);
  CHECK(world.events.has("removed build"));
  CHECK(clean(world, false)->empty());
}

TEST_CASE("A bundle goes where that is asked for") {
  BuildWorld world;
  REQUIRE(world.build());
  const auto removed = clean(world, true);
  REQUIRE(removed);
  CHECK(*removed == std::vector<Path>{world.settings.build_dir.value, world.settings.out.value});
  CHECK(world.files->kind(world.settings.out.value) == FileKind::absent);
  CHECK(clean(world, true)->empty());
}

TEST_CASE("A bundle in the build folder does not go unasked") {
  BuildWorld world;
  world.settings.out.value = world.settings.build_dir.value / "made/out";
  REQUIRE(world.build());
  const auto refused = clean(world, false);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "bundle_in_build_dir");
  CHECK(world.bundle().size() == 4);
  CHECK(clean(world, true)->size() == 1);
}

TEST_CASE("A folder that is not dsbuild's is left alone") {
  BuildWorld world;
  world.write("build/thesis.txt", "ten years");
  const auto refused = clean(world, true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "foreign_build_dir");
  CHECK(world.files->kind(world.folder.path() / "build/thesis.txt") == FileKind::file);
}
