// Where CUTLASS is looked for: the rules of DeepSpeed's evoformer_attn builder. version.h is that of
// CUTLASS 4.2.
#include <catch2/catch.hpp>

#include "unit/requirements/world.h"

using namespace dsbuild;

namespace {

void install(World& world, const Path& include_dir, const std::string& major = "4") {
  world.files.add_file(include_dir / "cutlass/cutlass.h", "");
  world.files.add_file(include_dir / "cutlass/version.h",
                       "#pragma once\n#define CUTLASS_MAJOR " + major +
                           "\n#define CUTLASS_MINOR 2\n#define CUTLASS_PATCH 0\n");
}

Requirement requirement() {
  return need_version(RequirementKind::cutlass, ">=3.1");
}

using Dirs = std::vector<std::string>;

}  // namespace

TEST_CASE("CUTLASS is taken from the first place that has it") {
  World world;
  world.environment["CUTLASS_HOME"] = "/home/one:/home/two";
  world.environment["CPATH"] = "/cpath";
  world.environment["VIRTUAL_ENV"] = "/venv";
  const std::vector<Path> places{
      "/venv/lib/python3.11/site-packages/cutlass_library/source/include",
      "/home/two/include",
      "/venv/include",
      "/usr/local/include",
      "/cpath",
      "/project/cutlass/include",
      "/pack/cutlass/include",
      "/opt/cutlass/include",
      "/usr/include",
  };
  world.files.add_directory("/venv/lib/python3.11/site-packages");
  world.files.add_directory("/usr/local/lib/python3.11/dist-packages");
  for (const Path& place : places)
    install(world, place);
  for (const Path& place : places) {
    const Finding finding = world.ask(requirement());
    INFO(finding.why);
    CHECK(finding.usage.include_dirs == Dirs{place});
    CHECK(world.files.remove_all(place));
  }
  const Finding nowhere = world.ask(requirement());
  CHECK_FALSE(nowhere.ok);
  CHECK(nowhere.why == "no CUTLASS headers (cutlass/cutlass.h)");
  CHECK(nowhere.fix == "pip install nvidia-cutlass, or set CUTLASS_PATH to a checkout of CUTLASS >=3.1");
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("CUTLASS_PATH is the only place, with the headers in include/ or in itself") {
  World world;
  install(world, "/usr/include");
  install(world, "/checkout/include");
  world.files.add_directory("/checkout/tools/util/include");
  world.environment["CUTLASS_PATH"] = "/checkout";
  CHECK(world.ask(requirement()).usage.include_dirs ==
        Dirs{"/checkout/include", "/checkout/tools/util/include"});
  world.environment["CUTLASS_PATH"] = "/checkout/include";
  CHECK(world.ask(requirement()).usage.include_dirs ==
        Dirs{"/checkout/include", "/checkout/tools/util/include"});
  world.environment["CUTLASS_PATH"] = "/elsewhere";
  CHECK(world.ask(requirement()).why == "CUTLASS_PATH: no CUTLASS headers in /elsewhere");
}

TEST_CASE("CUTLASS_PATH has two words that are no path") {
  World world;
  install(world, "/usr/include");
  world.environment["CUTLASS_PATH"] = "DS_IGNORE_CUTLASS_DETECTION";
  CHECK(world.ask(requirement()).ok);
  CHECK(world.ask(requirement()).usage == UsageRequirements{});
  world.environment["CUTLASS_PATH"] = "DS_USE_CUTLASS_PYTHON_BINDINGS";
  CHECK(world.ask(requirement()).why == "CUTLASS_PATH: no Python package nvidia-cutlass");
  install(world, "/usr/local/lib/python3.11/dist-packages/cutlass_library/source/include");
  CHECK(world.ask(requirement()).ok);
}

TEST_CASE("a CUTLASS that is too old is refused with its version") {
  World world;
  install(world, "/usr/include", "2");
  CHECK(world.ask(requirement()).why == "CUTLASS 2.2.0 in /usr/include is not >=3.1");
  world.files.add_file("/usr/include/cutlass/version.h", "");
  CHECK(world.ask(requirement()).why == "CUTLASS of unknown version in /usr/include is not >=3.1");
}
