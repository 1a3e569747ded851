#include "plan/twins.h"

#include <catch2/catch.hpp>

#include "plan_world.h"

using namespace dsbuild;

namespace {

// Two ops with one .cu and one .cpp in common; `more` is of the second.
struct TwinWorld : PlanWorld {
  explicit TwinWorld(const std::string& more) {
    const std::string sources = "sources: [first.cu, first.cpp]\n";
    add_op("first", sources + "defines: {NAME: first}\n");
    files.add_file("/pack/include/x.h", "");
    add_op("second", sources + more);
  }
  BuildPlan planned(const std::string& archs = "8.0;9.0") { return build(plan(archs).value()); }
};

std::string twin_of(const BuildPlan& plan, const std::string& output_part) {
  for (const Edge& edge : plan.edges)
    if (edge.output.find(output_part) != std::string::npos) return edge.twin;
  return "no such edge";
}

}  // namespace

TEST_CASE("the same source under other macros and include folders has the first op's object as its twin") {
  TwinWorld world("defines: {NAME: second, MORE: \"1\"}\ninclude_dirs: [include]\n");
  const BuildPlan plan = world.planned();
  CHECK(twin_of(plan, "obj/second/first.cu/first.o") == "obj/first/first.cu/first.o");
  CHECK(twin_of(plan, "obj/second/first.cpp/first.o") == "obj/first/first.cpp/first.o");
  CHECK(twin_of(plan, "obj/first/first.cu/first.o").empty());
}

TEST_CASE("a twin is made after the first and remembers that one's flags") {
  TwinWorld world("defines: {NAME: second}\n");
  const BuildPlan plan = world.planned();
  for (const Edge& edge : plan.edges) {
    if (edge.twin.empty()) continue;
    CHECK(edge.implicit_inputs.back() == edge.twin);
    const auto& flags = edge.twin_flags;
    CHECK(std::find(flags.begin(), flags.end(), "-DNAME=first") != flags.end());
    CHECK(is_for_op(plan, edge, "second"));
  }
  const auto first = std::find_if(plan.edges.begin(), plan.edges.end(),
                                  [](const Edge& e) { return e.output == "obj/first/first.cu/first.o"; });
  CHECK(is_for_op(plan, *first, "second"));
}

TEST_CASE("another flag, another arch set or debug info leave no twin") {
  SECTION("a flag") {
    TwinWorld world("flags: {nvcc: [--use_fast_math], cxx: [-O1]}\n");
    const BuildPlan plan = world.planned();
    CHECK(twin_of(plan, "obj/second/first.cu/first.o").empty());
    CHECK(twin_of(plan, "obj/second/first.cpp/first.o").empty());
  }
  SECTION("archs") {
    TwinWorld world("archs: {min: \"9.0\"}\n");
    CHECK(twin_of(world.planned(), "obj/second/first.cu/first.o").empty());
  }
  SECTION("debug info, which names the include folders") {
    TwinWorld world("");
    world.settings.debug.value = true;
    const BuildPlan plan = world.planned();
    CHECK(twin_of(plan, "obj/second/first.cu/first.o").empty());
    CHECK(twin_of(plan, "obj/second/first.cpp/first.o").empty());
  }
}

TEST_CASE("what an op is compiled with does not depend on whether another one has the source too") {
  TwinWorld both("defines: {NAME: second}\n");
  TwinWorld alone("defines: {NAME: second}\n");
  alone.selected.ops.erase(alone.selected.ops.begin());
  for (TwinWorld* world : {&both, &alone})
    world->settings.backend.value = CudaBackend::nvcc;  // commands that are in no step
  const BuildPlan with = both.planned(), without = alone.planned();
  for (const Edge& edge : without.edges) {
    if (edge.op != "second" || edge.source.empty()) continue;
    const auto same = std::find_if(with.edges.begin(), with.edges.end(),
                                   [&](const Edge& e) { return e.output == edge.output; });
    REQUIRE(same != with.edges.end());
    CHECK(plain_argv(with, *same) == plain_argv(without, edge));
  }
}
