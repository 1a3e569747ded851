// CUDA ops, with a toolkit that is made up: slices, what nvcc makes beside them, and the commands that look.
#include <catch2/catch.hpp>

#include "base/build_layout.h"
#include "base/digest.h"
#include "driver/compare_bundle.h"
#include "driver/due_actions.h"
#include "driver/slicing.h"
#include "unit/driver/cuda_world.h"

using namespace dsbuild;

namespace {

Result<Plan> plan_of(CudaWorld& world) {
  Session session(world.settings, world.system, world.events);
  return make_plan(world.request(), session);
}

size_t edges_of(const Plan& plan, EdgeKind kind) {
  return static_cast<size_t>(std::count_if(plan.graph.edges.begin(), plan.graph.edges.end(),
                                           [&](const Edge& edge) { return edge.kind == kind; }));
}

bool warns_of(const std::vector<Warning>& warnings, const std::string& code, const std::string& words) {
  return std::any_of(warnings.begin(), warnings.end(), [&](const Warning& warning) {
    return warning.code == code && warning.what.find(words) != std::string::npos;
  });
}

// "3", "not the same", or the error's code.
std::string compared(CudaWorld& world) {
  Session session(world.settings, world.system, world.events);
  const auto manifest = load_manifest(world.settings.out.value, *world.files);
  REQUIRE(manifest);
  const auto files = compare_bundle(world.request(), *manifest, session);
  if (!files) return files.error().code;
  return files->differences.empty() ? std::to_string(files->compared) : "not the same";
}

}  // namespace

TEST_CASE("A CUDA op becomes slices, one for each arch, and a library that holds just those") {
  CudaWorld world;
  const auto built = world.build();
  REQUIRE(built);
  CHECK(built->plan.sliced_commands.size() == 1);
  CHECK(edges_of(built->plan, EdgeKind::cuda_compile) == 0);
  CHECK(edges_of(built->plan, EdgeKind::cuda_slice) >= 3);
  REQUIRE(built->outcome.manifest.ops.size() == 3);
  const ManifestOp& scale = built->outcome.manifest.ops[1];
  CHECK(scale.name == "scale");
  CHECK(arch_text(scale.archs) == "8.0 9.0+PTX");
  CHECK(scale.images.size() == 3);
  CHECK(built->outcome.manifest.toolkit.version == "13.0.88");
}

TEST_CASE("Looking starts no compiler: whether slices are what nvcc makes is recalled") {
  CudaWorld world;
  const auto looked = plan_of(world);
  REQUIRE(looked);
  CHECK(looked->sliced_commands.size() == 1);
  CHECK_FALSE(world.files->kind(world.settings.build_dir.value) == FileKind::directory);
}

TEST_CASE(
    "What cannot be sliced is compiled whole, and that is said; where slices are insisted on, it is an "
    "error") {
  CudaWorld world(false);
  const auto plan = plan_of(world);
  REQUIRE(plan);
  CHECK(edges_of(*plan, EdgeKind::cuda_compile) == 1);
  CHECK(warns_of(plan->warnings, "not_sliced", "1 file compiled by whole nvcc commands"));
  world.settings.backend = {CudaBackend::slices, "--backend"};
  const auto refused = plan_of(world);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "cannot_slice");
  CHECK(refused.error().where == "--backend");
}

TEST_CASE("Slices that are not what nvcc makes are found beside the build, which begins again without") {
  CudaWorld world;
  world.behave(R"("steps": true, "text": true, "apart": true)");
  const auto counted_on = plan_of(world);
  REQUIRE(counted_on);
  CHECK(counted_on->sliced_commands.size() == 1);
  CHECK(counted_on->untested.size() == 1);
  {
    const auto built = world.build();
    REQUIRE(built);
    CHECK(built->plan.sliced_commands.empty());
    CHECK(warns_of(built->outcome.warnings, "not_sliced",
                   "its device images of sm_75, sm_121, compute_121 differ"));
  }
  CHECK(std::count(world.events.told.begin(), world.events.told.end(), "plan") == 2);
  const auto known = plan_of(world);
  REQUIRE(known);
  CHECK(known->sliced_commands.empty());

  // What failed may not fail again: each build tests it.
  world.behave(R"("steps": true, "text": true)");
  REQUIRE(world.build());
  const auto sliced = world.build();
  REQUIRE(sliced);
  CHECK(sliced->plan.sliced_commands.size() == 1);
  CHECK(sliced->plan.untested.empty());
}

TEST_CASE("What a dsbuild of another version found of slices does not count: it made others") {
  CudaWorld world;
  const auto plan = plan_of(world);
  REQUIRE(plan);
  REQUIRE(plan->untested.size() == 1);
  const SliceTest& test = plan->untested.front();
  const auto is_tested_with = [&](const std::string& identity) {
    Session session(world.settings, world.system, world.events);
    session.facts.put(test.fact, identity, k_slices_are_the_same);
    const auto looked = make_plan(world.request(), session);
    REQUIRE(looked);
    return looked->untested.empty();
  };
  CHECK_FALSE(is_tested_with(sha256(plan->tools.of(k_nvcc_tool).text)));
  CHECK_FALSE(is_tested_with(sha256("0" + plan->tools.of(k_nvcc_tool).text)));
  CHECK(is_tested_with(test.identity));
}

TEST_CASE("Where slices are insisted on, what nvcc makes otherwise is an error and the bundle stays") {
  CudaWorld world;
  REQUIRE(world.build());
  const auto before = world.bundle();
  world.behave(R"("steps": true, "text": true, "apart": true)");
  std::filesystem::remove_all(world.settings.cache_dir);
  world.settings.backend = {CudaBackend::slices, "--backend"};
  const auto refused = world.build();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "cannot_slice");
  CHECK(world.bundle() == before);
}

TEST_CASE("A build that is cancelled does not wait for its self-test, and remembers nothing of it") {
  CudaWorld world;
  std::stop_source stop;
  world.events.watch = [&](const std::string& told) {
    if (told == "begins") stop.request_stop();
  };
  const auto cancelled = world.build({stop.get_token(), {}});
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().code == "cancelled");
  const auto plan = plan_of(world);
  REQUIRE(plan);
  CHECK(plan->untested.size() == 1);
  const auto left = world.files->list(world.settings.cache_dir);
  REQUIRE(left);
  for (const std::string& name : *left)
    CHECK_FALSE(name.starts_with("slices-"));
}

TEST_CASE("A toolkit whose dry run fails is not sliced") {
  CudaWorld world;
  world.behave("\"steps\": true, \"mute\": true");
  const auto plan = plan_of(world);
  if (plan) CHECK(warns_of(plan->warnings, "not_sliced", "its dry run failed"));
  if (!plan) CHECK(plan.error().code == "tool_does_not_answer");
}

TEST_CASE("A bundle is compared with what nvcc makes, where it is that of this folder") {
  CudaWorld world;
  REQUIRE(world.build());
  CHECK(compared(world) == "1");

  world.ask_for("8.0");
  CHECK(compared(world) == "not_built");
  world.ask_for("8.0;9.0+PTX");
  world.settings.backend = {CudaBackend::nvcc, "--backend"};
  CHECK(compared(world) == "nothing_to_compare");
  world.settings.backend = {};
  world.settings.build_dir.value = world.folder.path() / "another";
  CHECK(compared(world) == "not_built");
}

TEST_CASE("What nvcc makes otherwise is a failure of its op") {
  CudaWorld world;
  REQUIRE(world.build());
  world.behave(R"("steps": true, "text": true, "payload": 300)");
  CHECK(compared(world) == "not the same");
  CHECK(world.events.has("failure of scale"));
}

TEST_CASE("A build of what nvcc makes otherwise publishes nothing, or with keep_going the other ops") {
  CudaWorld world;
  world.settings.verify_against_nvcc.value = true;
  REQUIRE(world.build());
  const auto before = world.bundle();
  world.behave(R"("steps": true, "text": true, "payload": 300)");
  std::filesystem::remove_all(world.settings.build_dir.value / "against_nvcc");
  const auto refused = world.build();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "edge_failed");
  CHECK(refused.error().where == "scale");
  CHECK(world.bundle() == before);
  world.settings.keep_going.value = true;
  const auto built = world.build();
  REQUIRE(built);
  CHECK(built->outcome.manifest.ops.size() == 2);
  CHECK(built->outcome.compared == 0U);
}

TEST_CASE("A build compares before it publishes, where that is asked for") {
  CudaWorld world;
  world.settings.verify_against_nvcc.value = true;
  const auto built = world.build();
  REQUIRE(built);
  CHECK(built->outcome.compared == 1U);
  world.settings.backend = {CudaBackend::nvcc, "--backend"};
  const auto refused = world.build();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "nothing_to_compare");
}

TEST_CASE("What the next build would run is told with its reason, and how long it takes") {
  CudaWorld world;
  const auto plan = plan_of(world);
  REQUIRE(plan);
  Session session(world.settings, world.system, world.events);
  const auto nothing_yet = find_pending_edges(*plan, session);
  REQUIRE_FALSE(nothing_yet);
  CHECK(nothing_yet.error().code == "not_built");
  CHECK(forecast_of(*plan, session).from_nothing);

  REQUIRE(world.build());
  const auto none = find_pending_edges(*plan, session);
  REQUIRE(none);
  CHECK(none->empty());
  CHECK_FALSE(forecast_of(*plan, session).from_nothing);

  world.write("pack/src/scale.cu", "// export: scale_run\n__global__ void scale() { int more; }\n");
  Session later(world.settings, world.system, world.events);
  const auto some = find_pending_edges(*plan, later);
  REQUIRE(some);
  REQUIRE_FALSE(some->empty());
  bool names_source = false;
  for (const auto& [output, reason] : *some)
    names_source = names_source || reason.find("scale.cu") != std::string::npos;
  CHECK(names_source);
}
