// Properties that must hold for any pack: made-up ops with random filters, random requests.
#include <catch2/catch.hpp>
#include <random>

#include "plan_world.h"
#include "support/sample.h"

using namespace dsbuild;

namespace {

const std::vector<std::string> k_archs = {"7.0", "7.5",  "8.0",     "8.6",    "8.9",
                                          "9.0", "9.0a", "8.0+PTX", "9.0+PTX"};
const std::vector<std::string> k_filters = {"", "archs: {min: \"8.0\"}\n", "archs: {min: \"7.5\"}\n",
                                            "archs: {exclude: [\"8.6\"]}\n", "archs: {max: \"9.0\"}\n"};

template <class T>
const T& pick(const std::vector<T>& from, std::mt19937& random) {
  return from[random() % from.size()];
}

// The same list every time it is called with an equal generator.
std::vector<std::string> random_archs(std::mt19937& random) {
  std::vector<std::string> archs = {"8.0"};
  for (auto count = random() % 4; count > 0; --count)
    archs.push_back(pick(k_archs, random));
  return archs;
}

PlanWorld random_world(std::mt19937& random) {
  PlanWorld world;
  world.toolkit = fake_toolkit(1208);
  world.settings.allow_disjoint_archs.value = true;
  const auto count = 1 + random() % 5;
  for (auto i = count; i > 0; --i)
    world.add_cuda_op("op" + std::to_string(i), pick(k_filters, random));
  return world;
}

}  // namespace

TEST_CASE(
    "sharing all or one arch of the intersection gives the same set per op, all with the fewest extras") {
  std::mt19937 random(sample_seed());
  for (int round = 0; round < 500; ++round) {
    PlanWorld world = random_world(random);
    const auto plan = world.plan(join(random_archs(random), ";"));
    REQUIRE(plan);
    for (const PlannedOp& op : plan->ops) {
      if (op.status != OpStatus::build) continue;
      CHECK(union_of(plan->shared, op.extra) == op.archs);
      CHECK(intersection(plan->shared, op.extra).empty());
      for (const Target& one : plan->shared) {
        const ArchSet others = difference(op.archs, {one});
        CHECK(union_of({one}, others) == op.archs);
        CHECK(op.extra.size() <= others.size());
      }
    }
  }
}

TEST_CASE("an op's expanded commands do not depend on which other ops are selected") {
  std::mt19937 random(sample_seed());
  for (int round = 0; round < 200; ++round) {
    PlanWorld world = random_world(random);
    const std::string archs = join(random_archs(random), ";");
    const auto all = world.plan(archs);
    REQUIRE(all);
    const BuildPlan together = world.build(*all);
    const std::string chosen = pick(world.registry.ops, random).name();
    if (all->find(chosen)->status != OpStatus::build) continue;
    for (SelectedOp& op : world.selected.ops)
      if (op.name != chosen) op.wanted = Wanted::off;
    const auto single = world.plan(archs);
    REQUIRE(single);
    const BuildPlan alone = world.build(*single);
    std::vector<std::vector<std::string>> expected;
    for (const Edge& edge : together.edges)
      if (edge.op == chosen) expected.push_back(edge_argv(together, edge));
    std::vector<std::vector<std::string>> got;
    for (const Edge& edge : alone.edges)
      got.push_back(edge_argv(alone, edge));
    CHECK(got == expected);
  }
}
