// The rules of the algorithm (docs/internals/architecture.md). The expected sets are those of the design's
// own examples.
#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "plan_world.h"
#include "unit/arch/made_up_vendor.h"

using namespace dsbuild;

namespace {

PlanWorld seed_world() {
  PlanWorld world;
  world.add_cuda_op("adam");
  world.add_cuda_op("evoformer", "archs: {min: \"7.0\"}\n");
  world.add_cuda_op("quantizer", "archs: {min: \"8.0\"}\n");
  return world;
}

}  // namespace

TEST_CASE("the seed example shares 8.0+PTX and gives 7.0 only to the ops that keep it") {
  PlanWorld world = seed_world();
  const auto plan = world.plan("7.0;8.0+PTX");
  REQUIRE(plan);
  CHECK(arch_text(plan->shared) == "8.0+PTX");
  CHECK(target_names(plan->find("adam")->extra) == "sm_70");
  CHECK(target_names(plan->find("evoformer")->extra) == "sm_70");
  CHECK(plan->find("quantizer")->extra.empty());
  CHECK(arch_text(plan->find("quantizer")->archs) == "8.0+PTX");
}

TEST_CASE("an op that loses every arch is skipped under all, and the others share what is left") {
  PlanWorld world = seed_world();
  const auto plan = world.plan("7.0");
  REQUIRE(plan);
  CHECK(plan->find("quantizer")->status == OpStatus::skip);
  CHECK(plan->find("quantizer")->reason == "no arch left: supports >= 8.0, requested 7.0");
  CHECK(arch_text(plan->shared) == "7.0");
  CHECK(plan->find("adam")->extra.empty());
}

TEST_CASE(
    "an op asked for by name that loses every arch is exit 3, with what it supports and what would do") {
  PlanWorld world;
  world.add_cuda_op("quantizer", "archs: {min: \"8.0\"}\n", Wanted::by_name);
  const auto plan = world.plan("7.0");
  REQUIRE_FALSE(plan);
  CHECK(plan.error().exit == Exit::unmet);
  CHECK(plan.error().code == "op_has_no_arch");
  CHECK(plan.error().what == "quantizer cannot be built: no arch left: supports >= 8.0, requested 7.0");
  CHECK(plan.error().fix == "Ask for an arch that it supports, for example --arch 7.0,8.0.");
}

TEST_CASE("an arch request of which no CUDA op can be built is exit 3 even if CPU ops could be") {
  PlanWorld world;
  world.add_cuda_op("quantizer", "archs: {min: \"8.0\"}\n");
  world.add_op("cpu_adam", "backend: cpu\nsources: [cpu_adam.cpp]\n");
  const auto plan = world.plan("7.0");
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == "no_cuda_op");
  CHECK(plan.error().exit == Exit::unmet);
}

TEST_CASE("CPU ops and skipped ops never narrow the shared set") {
  PlanWorld world = seed_world();
  world.add_op("cpu_adam", "backend: cpu\nsources: [cpu_adam.cpp]\n");
  world.add_cuda_op("broken", "archs: {only: [\"8.0-real\"]}\n");
  world.fail_requirement("broken", "no header", "install it");
  const auto plan = world.plan("7.0;8.0+PTX");
  REQUIRE(plan);
  CHECK(arch_text(plan->shared) == "8.0+PTX");
  CHECK(plan->find("broken")->status == OpStatus::skip);
  CHECK(plan->find("broken")->reason == "no header");
  CHECK(plan->find("cpu_adam")->status == OpStatus::build);
}

TEST_CASE("ops without a common arch are exit 3 unless disjoint archs are allowed") {
  PlanWorld world;
  world.add_cuda_op("old", "archs: {max: \"7.0\"}\n");
  world.add_cuda_op("new", "archs: {min: \"8.0\"}\n");
  const auto refused = world.plan("7.0;8.0");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == "disjoint_archs");
  CHECK(refused.error().what == "no arch is built by all ops:\n  new: 8.0\n  old: 7.0");
  world.settings.allow_disjoint_archs.value = true;
  const auto allowed = world.plan("7.0;8.0");
  REQUIRE(allowed);
  CHECK(allowed->shared.empty());
  CHECK(target_names(allowed->find("old")->extra) == "sm_70");
  CHECK(allowed->warnings.size() == 1);
}

TEST_CASE("a source's own filter narrows that source, and the op's set is the union of its sources'") {
  PlanWorld world;
  world.toolkit = fake_toolkit(1300);
  world.add_op("attn",
               "archs: {min: \"8.0\"}\n"
               "sources:\n"
               "  - attn.cu\n"
               "  - {path: attn_sm90.cu, archs: {only: [\"9.0a\"]}}\n");
  const auto plan = world.plan("8.0;9.0a");
  REQUIRE(plan);
  const PlannedOp& op = *plan->find("attn");
  CHECK(arch_text(op.archs) == "8.0 9.0a");
  REQUIRE(op.sources.size() == 2);
  CHECK(arch_text(op.sources[0].archs) == "8.0 9.0a");
  CHECK(arch_text(op.sources[1].archs) == "9.0a");
}

TEST_CASE("a source left out because 9.0 is not 9.0a is warned about with both ways to mend it") {
  PlanWorld world;
  world.toolkit = fake_toolkit(1300);
  world.add_op("attn", "sources:\n  - attn.cu\n  - {path: attn_sm90.cu, archs: {only: [\"9.0a\"]}}\n");
  const auto plan = world.plan("9.0");
  REQUIRE(plan);
  CHECK(plan->find("attn")->left_out == std::vector<std::string>{"attn_sm90.cu"});
  REQUIRE(plan->warnings.size() == 1);
  CHECK(plan->warnings[0].fix.find("specialise") != std::string::npos);
  CHECK(plan->warnings[0].fix.find("9.0a") != std::string::npos);
}

TEST_CASE("a target that no source keeps is a drop by source") {
  PlanWorld world;
  world.toolkit = fake_toolkit(1300);
  world.add_op("attn", "sources: [{path: attn.cu, archs: {min: \"9.0\"}}]\n");
  const auto plan = world.plan("8.0;9.0");
  REQUIRE(plan);
  const PlannedOp& op = *plan->find("attn");
  REQUIRE(op.dropped.size() == 1);
  CHECK(op.dropped[0].by == DroppedBy::source);
  CHECK(op.dropped[0].target.name() == "sm_80");
}

TEST_CASE("specialise builds 9.0a where 9.0 was asked for") {
  PlanWorld world;
  world.toolkit = fake_toolkit(1300);
  world.add_cuda_op("attn", "archs: {specialise: [\"9.0a\"]}\n");
  const auto plan = world.plan("8.0;9.0");
  REQUIRE(plan);
  CHECK(arch_text(plan->find("attn")->archs) == "8.0 9.0a");
}

TEST_CASE("an op that loses the only PTX of the request is reported") {
  PlanWorld world = seed_world();
  const auto plan = world.plan("7.0+PTX;8.0");
  REQUIRE(plan);
  CHECK(plan->find("quantizer")->lost_only_ptx);
  CHECK_FALSE(plan->find("adam")->lost_only_ptx);
  REQUIRE(plan->warnings.size() == 1);
  CHECK(plan->warnings[0].code == "lost_ptx");
}

TEST_CASE("an op whose needed op is not built is skipped too, with the chain of reasons") {
  PlanWorld world;
  world.add_op("pin_memory", "backend: cpu\nsources: [pin_memory.cpp]\n");
  world.add_op("async_io", "backend: cpu\nneeds: [pin_memory]\nsources: [async_io.cpp]\n");
  world.add_op("other", "backend: cpu\nsources: [other.cpp]\n");
  world.fail_requirement("pin_memory", "no libfoo", "apt-get install libfoo-dev");
  const auto plan = world.plan("8.0");
  REQUIRE(plan);
  CHECK(plan->find("async_io")->reason == "needs pin_memory, which is not built: no libfoo");
}

TEST_CASE("without a toolkit CUDA ops are skipped and CPU ops are built") {
  PlanWorld world;
  world.has_toolkit = false;
  world.add_cuda_op("adam");
  world.add_op("cpu_adam", "backend: cpu\nsources: [cpu_adam.cpp]\n");
  world.settings.arch.value.is_default = true;
  const auto plan =
      plan_archs({world.settings, world.registry, world.selected, world.requirements, nullptr, {}, "x86_64"});
  REQUIRE(plan);
  CHECK(plan->find("adam")->reason == "no CUDA toolkit");
  CHECK(plan->find("cpu_adam")->status == OpStatus::build);
}

TEST_CASE("What two ops share is found for each vendor by itself") {
  const MadeUpVendor other;
  const Target ampere = NvidiaTarget{{8, 0}}, hopper = NvidiaTarget{{9, 0}};
  const Target one = other.target(1), two = other.target(2);
  CHECK(shared_archs({{ampere, hopper}, {hopper}, {one, two}, {two}, {}}) == ArchSet{hopper, two});
  CHECK(shared_archs({{ampere, one}, {hopper, one}}) == ArchSet{one});
}
