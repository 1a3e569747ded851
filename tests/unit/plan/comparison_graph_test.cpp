#include "plan/comparison_graph.h"

#include <catch2/catch.hpp>

#include "plan_world.h"
#include "support/test_data.h"

using namespace dsbuild;

namespace {

// nvcc's own answer for 8.0 and 9.0+PTX (tests/unit/nvcc/nvcc_commands_test.cpp).
LearntCommands learnt(const Args&) {
  return parse_nvcc_commands(test_data("unit/nvcc/data/steps-13.0.txt"));
}

}  // namespace

TEST_CASE("nvcc's whole command is run beside the parts, with a folder of its own, and compared") {
  PlanWorld world;
  world.add_op("first", "sources: [first.cu]\n");
  world.add_op("second", "sources: [first.cu]\ndefines: {MORE: \"1\"}\n");
  BuildPlan build = world.build_by_op(world.plan("8.0;9.0+PTX").value());
  const Sliced sliced = slice_cuda_edges(build, {learnt});
  const BuildPlan plan = plan_nvcc_comparison(build, sliced.commands);
  CHECK(plan.graph_file != build.graph_file);
  REQUIRE(plan.edges.size() == 4);  // two for each op's file
  const Edge &whole = plan.edges[2], &comparison = plan.edges[3];
  CHECK(whole.output == "against_nvcc/second/first.cu/first.nvcc.o");
  CHECK(whole.kind == EdgeKind::cuda_compile);
  CHECK(whole.after.empty());
  CHECK(std::count(whole.flags.begin(), whole.flags.end(), "-DMORE=1") == 1);
  CHECK(std::count(whole.flags.begin(), whole.flags.end(), "--keep-dir=against_nvcc/second/first.cu") == 1);
  CHECK(comparison.output == "against_nvcc/second/first.cu/first.nvcc.ok");
  CHECK(comparison.kind == EdgeKind::comparison);
  const Args compared(comparison.inputs.begin(), comparison.inputs.begin() + 4);
  CHECK(compared == Args{"pack/first.cu", whole.output, "obj/second/first.cu/first.o",
                         "obj/second/first.cu/first.host.o"});
  CHECK(comparison.inputs.size() == 4 + 5);  // front, two archs, host, fatbin
  for (size_t i = 4; i < comparison.inputs.size(); ++i)
    CHECK(std::any_of(plan.files.begin(), plan.files.end(),
                      [&](const PlannedFile& file) { return file.path == comparison.inputs[i]; }));
}
