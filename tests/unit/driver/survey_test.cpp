#include "driver/survey.h"
#include "arch/amd.h"
#include "arch/nvidia.h"

#include <catch2/catch.hpp>

#include "unit/driver/cuda_world.h"

using namespace dsbuild;

namespace {

Result<Survey> survey_all(BuildWorld& world) {
  Session session(world.settings, world.system, world.events);
  return survey_all(world.request(), session);
}

}  // namespace

TEST_CASE("A survey of everything wants every op where none is named, and needs no tool to be there") {
  BuildWorld world;
  world.settings.selection = {};
  world.settings.accelerator = {};
  world.settings.cuda_home = {world.folder.path() / "no toolkit", "--cuda-home"};
  world.system.environment["CXX"] = "/nothing/g++";
  const auto survey = survey_all(world);
  REQUIRE(survey);
  CHECK(survey->selected.ops.ops.size() == 2);
  REQUIRE_FALSE(survey->cxx);
  CHECK(survey->cxx.error().code == "no_compiler");
  REQUIRE(survey->tools_of(nvidia()));
  CHECK_FALSE(survey->tools_of(nvidia())->chosen);
  CHECK(survey->toolkits().empty());
}

TEST_CASE("A plan of a survey whose tools are missing is that error") {
  BuildWorld world;
  world.system.environment["CXX"] = "/nothing/g++";
  const auto survey = survey_all(world);
  REQUIRE(survey);
  Session session(world.settings, world.system, world.events);
  const auto plan = make_plan(*survey, session);
  REQUIRE_FALSE(plan);
  CHECK(plan.error() == survey->cxx.error());
}

TEST_CASE("A plan leaves its survey as it is, and has of its tools those that the ops need") {
  CudaWorld world;
  world.settings.selection.all = false;
  world.settings.selection.names = {"one"};
  const auto survey = survey_all(world);
  REQUIRE(survey);
  REQUIRE(survey->toolkits().of(nvidia()));
  REQUIRE_FALSE(survey->requested.empty());
  Session session(world.settings, world.system, world.events);
  const auto plan = make_plan(*survey, session);
  REQUIRE(plan);
  CHECK(plan->survey.toolkits().of(nvidia()));
  CHECK(plan->survey.requested == survey->requested);
  CHECK(plan->toolkits().empty());
  CHECK(plan->archs.requested.empty());
  CHECK(plan->cxx().path == survey->cxx->path);
}

TEST_CASE("What is wanted needs no toolkit where it is CPU ops alone") {
  BuildWorld world;
  Session session(world.settings, world.system, world.events);
  const auto survey = survey_wanted(world.request(), session);
  REQUIRE(survey);
  CHECK(survey->devices.empty());
  CHECK(survey->toolkits().empty());
  CHECK(survey->cxx->path == world.folder.path() / "compiler/g++");
}

TEST_CASE(
    "What is built for follows --backend, and torch's variable of a backend counts where that is selected") {
  BuildWorld world;
  Session session(world.settings, world.system, world.events);
  world.system.environment["PYTORCH_ROCM_ARCH"] = "gfx90a gfx942";
  const auto unselected = survey_wanted(world.request(), session);
  REQUIRE(unselected);
  REQUIRE(unselected->selected.demands.size() == 1);
  CHECK(unselected->selected.demands[0].vendor == &nvidia());

  world.settings.devices = {{&amd()}, "--backend"};
  const auto survey = survey_wanted(world.request(), session);
  REQUIRE(survey);
  REQUIRE(survey->selected.demands.size() == 1);
  CHECK(survey->selected.demands[0].vendor == &amd());
  CHECK(arch_list(survey->selected.demands[0].request.targets) == "gfx90a;gfx942");
}

TEST_CASE("A target of a vendor that --backend leaves out is an error") {
  BuildWorld world;
  Session session(world.settings, world.system, world.events);
  world.settings.devices = {{&amd()}, "--backend"};
  world.settings.arch = {*parse_arch_list("8.0", "--arch"), "--arch"};
  const auto survey = survey_wanted(world.request(), session);
  REQUIRE_FALSE(survey);
  CHECK(survey.error().code == "arch_of_other_backend");
}
