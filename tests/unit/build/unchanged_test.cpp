// A build with nothing to do is not planned again; anything else is.
#include "build/unchanged.h"

#include <catch2/catch.hpp>

#include "unit/build/build_world.h"

using namespace dsbuild;

namespace {

constexpr const char* k_asked = "build --ops all";

struct RememberedWorld : BuildWorld {
  // As the command does behind a build that did something.
  void build_and_remember(bool starts_a_program = false) {
    const auto built = build();
    REQUIRE(built);
    const PlanAgain plan_again = [&](System& watched) -> Result<Plan> {
      if (starts_a_program)
        (void)watched.processes.run({{"true"}, system.environment, {}, std::chrono::seconds(10)});
      Session session(settings, watched);
      return make_plan(request(), session);
    };
    remember_build({"the plan\n", built->outcome.bundle, 2, 0, std::nullopt}, k_asked, built->plan,
                   plan_again, system);
  }
  std::optional<UnchangedBuild> find(const std::string& asked = k_asked) {
    return find_unchanged_build(request(), asked, system);
  }
};

}  // namespace

TEST_CASE("A build that changed nothing since is found, with what it said") {
  RememberedWorld world;
  CHECK_FALSE(world.find());
  world.build_and_remember();
  const auto unchanged = world.find();
  REQUIRE(unchanged);
  CHECK(unchanged->shown == "the plan\n");
  CHECK(unchanged->bundle.path == world.settings.out.value);
  CHECK(unchanged->ops == 2);
  CHECK_FALSE(unchanged->compared);
}

TEST_CASE("Another command line, environment or file is another build") {
  RememberedWorld world;
  world.build_and_remember();
  REQUIRE(world.find());
  CHECK_FALSE(world.find("build --ops one"));
  world.system.environment["DSBUILD_NEW"] = "1";
  CHECK_FALSE(world.find());
  world.system.environment.erase("DSBUILD_NEW");
  world.system.environment["PWD"] = "/elsewhere";  // the shell's own
  REQUIRE(world.find());
  SECTION("a source") {
    world.write_source("one", "int more;\n");
  }
  SECTION("a spec") {
    world.write("pack/two/op.yaml", "name: two\n");
  }
  SECTION("an op more") {
    world.add_op("three");
  }
  SECTION("a library of the bundle") {
    world.write("out/one.so", "damaged");
  }
  SECTION("a library of the build folder") {
    world.write("build/lib/one.so", "damaged");
  }
  SECTION("the bundle") {
    std::filesystem::remove_all(world.settings.out.value);
  }
  SECTION("the compiler") {
    world.write("compiler/g++", "#!/bin/sh\n");
  }
  SECTION("what is remembered") {
    const Path remembered = world.settings.build_dir.value / "unchanged";
    REQUIRE(world.files->append(remembered, "x"));
  }
  CHECK_FALSE(world.find());
}

TEST_CASE("Nothing is remembered of a plan that had to start a program") {
  RememberedWorld world;
  world.build_and_remember(true);
  CHECK_FALSE(world.find());
}
