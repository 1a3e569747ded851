#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "ninja/ninja_run.h"

using namespace dsbuild;

namespace {

struct World {
  FakeFileSystem files;
  FakeProcessRunner processes;
  Settings settings;
  System system{files, processes, {{"PATH", "/usr/bin"}}, "/venv/bin/dsbuild"};

  World() { settings.cache_dir = "/cache"; }
  void add_ninja(const Path& program, const std::string& version) {
    files.add_file(program, "ninja " + program.string(), true);
    processes.on({program.string(), "--version"}, version + "\n");
  }
  Result<Ninja> find() {
    FactStore facts(files, "/facts.json");
    return find_ninja(settings, system, facts);
  }
};

}  // namespace

TEST_CASE("Ninja is taken from the first place that has one") {
  World world;
  const std::vector<Path> places = {"/venv/bin/ninja", "/cache/ninja/1.13.2/bin/ninja",
                                    "/cache/ninja/1.12.1/bin/ninja", "/usr/bin/ninja"};
  for (const Path& place : places)
    world.add_ninja(place, "1.12.0");
  for (const Path& place : places) {
    CHECK(world.find().value().program == place);
    CHECK(world.files.remove_all(place));
  }
}

TEST_CASE("A Ninja that is named is used, or none is") {
  World world;
  world.add_ninja("/usr/bin/ninja", "1.12.0");
  world.settings.variables["DSBUILD_NINJA"] = "/named/ninja";
  CHECK(world.find().error().where == "DSBUILD_NINJA");
  world.add_ninja("/named/ninja", "1.10.2");
  CHECK(world.find().error().what == "'/named/ninja' is Ninja 1.10.2, and 1.11 or newer is needed");
  world.add_ninja("/named/ninja", "1.11.1");
  CHECK(world.find().value().program == "/named/ninja");
}

TEST_CASE("A Ninja that is too old is passed over, and named where there is no other") {
  World world;
  world.add_ninja("/venv/bin/ninja", "1.10.2");
  CHECK(world.find().error().code == "no_ninja");
  CHECK(world.find().error().what.find("/venv/bin/ninja is 1.10.2") != std::string::npos);
  world.add_ninja("/usr/bin/ninja", "1.11.0");
  CHECK(world.find().value().program == "/usr/bin/ninja");
}
