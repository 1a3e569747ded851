#include "plan/slice_edges.h"

#include <catch2/catch.hpp>

#include "nvcc/step_file.h"
#include "plan_world.h"
#include "support/test_data.h"

using namespace dsbuild;

namespace {

// nvcc's own answer for 8.0 and 9.0+PTX (tests/unit/nvcc/nvcc_commands_test.cpp).
LearntCommands learnt(const Args&) {
  return parse_nvcc_commands(test_data("unit/nvcc/data/steps-13.0.txt"));
}

WholeFiles slice(BuildPlan& plan, const LearnCommands& learn = learnt, const EdgeHistory& times = {}) {
  WholeFiles whole_files = slice_cuda_edges(plan, {learn}).whole_files;
  put_longest_first(plan.edges, times, "native");
  return whole_files;
}

BuildPlan sliced(PlanWorld& world, const LearnCommands& learn = learnt) {
  BuildPlan plan = world.build_by_op(world.plan("8.0;9.0+PTX").value());
  slice(plan, learn);
  return plan;
}

const Edge& edge_of(const BuildPlan& plan, const std::string& output) {
  for (const Edge& edge : plan.edges)
    if (edge.output == output) return edge;
  FAIL("no edge makes " << output);
  return plan.edges.front();
}

bool is_planned(const BuildPlan& plan, const std::string& path) {
  return std::any_of(plan.files.begin(), plan.files.end(),
                     [&](const PlannedFile& file) { return file.path == path; });
}

const std::string k_unit = "obj/adam/adam.cu/adam";

}  // namespace

TEST_CASE("a sliced file has a front, one edge for each virtual arch, a host and a fatbin edge") {
  PlanWorld world;
  world.add_cuda_op("adam");
  const BuildPlan plan = sliced(world);
  const Edge& slice = edge_of(plan, k_unit + ".compute_90.ptx");
  CHECK(target_names(slice.targets) == "sm_90 compute_90");
  CHECK(slice.more_outputs ==
        Args{k_unit + ".compute_90.sm_90.cubin", k_unit + ".compute_90.cudafe1.stub.c"});
  CHECK(target_names(edge_of(plan, k_unit + ".compute_80.cubin").targets) == "sm_80");
  CHECK(edge_of(plan, k_unit + ".cudafe1.cpp").targets.empty());
  CHECK(edge_of(plan, k_unit + ".host.o").inputs ==
        Args{k_unit + ".cudafe1.cpp", k_unit + ".compute_90.cudafe1.stub.c"});
  CHECK(edge_of(plan, k_unit + ".o").inputs ==
        Args{k_unit + ".compute_80.cubin", k_unit + ".compute_90.ptx", k_unit + ".compute_90.sm_90.cubin"});
  const Args& linked = edge_of(plan, "lib/adam.so").inputs;
  CHECK(std::count(linked.begin(), linked.end(), k_unit + ".o") == 1);
  CHECK(std::count(linked.begin(), linked.end(), k_unit + ".host.o") == 1);
  for (const Edge& edge : plan.edges) {
    CHECK(edge.kind != EdgeKind::cuda_compile);
    if (edge.kind == EdgeKind::cuda_slice) CHECK(is_planned(plan, edge.step_file));
  }
  CHECK(is_planned(plan, k_unit + ".module_id"));
  CHECK(is_planned(plan, k_unit + ".arch_list"));
}

TEST_CASE("two files with the same flags share what their edges run") {
  PlanWorld world;
  world.add_op("adam", "sources: [adam.cu, adam_b.cu]\n");
  const BuildPlan plan = sliced(world);
  const Edge& one = edge_of(plan, "obj/adam/adam.cu/adam.compute_80.cubin");
  const Edge& two = edge_of(plan, "obj/adam/adam_b.cu/adam_b.compute_80.cubin");
  CHECK(one.step_file == two.step_file);
  CHECK(one.step_file != edge_of(plan, "obj/adam/adam.cu/adam.compute_90.ptx").step_file);
}

TEST_CASE("what cannot be taken apart stays one command, and is counted by the reason") {
  PlanWorld world;
  world.add_op("adam", "sources: [adam.cu, adam_b.cu]\n");
  BuildPlan plan = world.build_by_op(world.plan("8.0;9.0+PTX").value());
  const auto riddle = [](const Args&) { return tl::unexpected(std::string("it is a riddle")); };
  CHECK(slice(plan, riddle) == WholeFiles{{"it is a riddle", 2}});
  CHECK(edge_of(plan, "obj/adam/adam.cu/adam.o").kind == EdgeKind::cuda_compile);

  plan = world.build_by_op(world.plan("8.0").value());
  for (Edge& edge : plan.edges)
    if (edge.kind == EdgeKind::cuda_compile) edge.flags.push_back("--keep");
  CHECK(slice(plan) == WholeFiles{{"has --keep", 2}});
}

TEST_CASE("a slice of a file that another op has too comes after that one's") {
  PlanWorld world;
  world.add_op("first", "sources: [first.cu]\n");
  world.add_op("second", "sources: [first.cu]\ndefines: {MORE: \"1\"}\n");
  const BuildPlan plan = sliced(world);
  const Edge& slice = edge_of(plan, "obj/second/first.cu/first.compute_80.cubin");
  CHECK(slice.after == "obj/first/first.cu/first.compute_80.cubin");
  CHECK(std::count(slice.implicit_inputs.begin(), slice.implicit_inputs.end(), slice.after) == 0);
  CHECK(edge_of(plan, "obj/second/first.cu/first.o").after.empty());
  CHECK(edge_of(plan, "obj/first/first.cu/first.compute_80.cubin").after.empty());
}

TEST_CASE("a file that stays whole comes after no slice") {
  PlanWorld world;
  world.add_op("first", "sources: [first.cu]\n");
  world.add_op("second", "sources: [first.cu]\ndefines: {MORE: \"1\"}\n");
  const BuildPlan plan = sliced(world, [](const Args& nvcc) -> LearntCommands {
    const bool is_second = std::find(nvcc.begin(), nvcc.end(), "-DMORE=1") != nvcc.end();
    if (is_second) return tl::unexpected(std::string("it is a riddle"));
    return learnt(nvcc);
  });
  const Edge& whole = edge_of(plan, "obj/second/first.cu/first.o");
  CHECK(whole.kind == EdgeKind::cuda_compile);
  CHECK(whole.after.empty());
}

TEST_CASE("a slice comes after none of a file that stays whole") {
  PlanWorld world;
  world.add_op("first", "sources: [first.cu]\ndefines: {MORE: \"1\"}\n");
  world.add_op("second", "sources: [first.cu]\n");
  const BuildPlan plan = sliced(world, [](const Args& nvcc) -> LearntCommands {
    const bool is_first = std::find(nvcc.begin(), nvcc.end(), "-DMORE=1") != nvcc.end();
    if (is_first) return tl::unexpected(std::string("it is a riddle"));
    return learnt(nvcc);
  });
  for (const Edge& edge : plan.edges)
    CHECK(edge.after.empty());
}

// nvcc 13.0.88 calls a.cu _c2de202b_4_a_cu_48338201, and a-b.c-hid.cu _b0744e32_12_a_b_c_hid_cu_f, whose
// first function is f.
TEST_CASE("the module id is a name of nvcc's form, whatever the file's is") {
  PlanWorld world;
  world.files.add_file("/pack/a-b.c.cu", "//\n");
  world.add_op("adam", "sources: [a-b.c.cu]\n");
  size_t ids = 0;
  for (const PlannedFile& file : sliced(world).files) {
    if (!file.path.ends_with(".module_id")) continue;
    ++ids;
    CHECK_THAT(file.content, Catch::Matches("_[0-9a-f]{8}_8_a_b_c_cu_[0-9a-f]{8}"));
  }
  CHECK(ids == 1);
}

TEST_CASE("the slice that takes longest stands first, one that was never measured with its sister") {
  PlanWorld world;
  world.add_op("adam", "sources: [adam.cu, adam_b.cu]\n");
  BuildPlan plan = world.build_by_op(world.plan("8.0;9.0+PTX").value());
  EdgeHistory history;
  history.measured = {{history_key("native", "adam", "adam.cu"), {1}},
                      {history_key("native", "adam", "adam_b.cu"), {2}},
                      {history_key("native", "adam", "adam.cu", "compute_90"), {9}}};
  slice(plan, learnt, history);
  for (const size_t i : {0, 1})
    CHECK(plan.edges[i].output.starts_with("obj/adam/adam.cu/adam.compute_"));
  CHECK(plan.edges[2].output.starts_with("obj/adam/adam_b.cu/adam_b.compute_"));
}
