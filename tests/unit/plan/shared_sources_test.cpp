#include "plan/shared_sources.h"

#include <catch2/catch.hpp>

#include "plan_world.h"

using namespace dsbuild;

namespace {

// Two ops with one .cu and one .cpp in common; `more` is of the second.
struct SharedWorld : PlanWorld {
  explicit SharedWorld(const std::string& more) {
    const std::string sources = "sources: [first.cu, first.cpp]\n";
    add_op("first", sources + "defines: {NAME: first}\n");
    files.add_file("/pack/include/x.h", "");
    add_op("second", sources + more);
  }
  BuildPlan planned(const std::string& archs = "8.0;9.0") { return build(plan(archs).value()); }
};

std::string after(const BuildPlan& plan, const std::string& output_part) {
  for (const Edge& edge : plan.edges)
    if (edge.output.find(output_part) != std::string::npos) return edge.after;
  return "no such edge";
}

}  // namespace

TEST_CASE("the same source under other macros and include folders comes after the first op's") {
  SharedWorld world("defines: {NAME: second, MORE: \"1\"}\ninclude_dirs: [include]\n");
  const BuildPlan plan = world.planned();
  CHECK(after(plan, "obj/second/first.cu/first.o") == "obj/first/first.cu/first.o");
  CHECK(after(plan, "obj/second/first.cpp/first.o") == "obj/first/first.cpp/first.o");
  CHECK(after(plan, "obj/first/first.cu/first.o").empty());
}

TEST_CASE("both compiles of a shared source are known by their text, and both are of the second op") {
  SharedWorld world("defines: {NAME: second}\n");
  const BuildPlan plan = world.planned();
  for (const Edge& edge : plan.edges) {
    CHECK(edge.is_shared == (edge.kind == EdgeKind::cxx_compile));
    if (!edge.after.empty()) CHECK(edge.op == "second");
    if (edge.is_compile()) CHECK(is_for_op(plan, edge, "second"));
    if (edge.kind == EdgeKind::cxx_compile) CHECK(step_words(plan, edge).at(3) == "text");
  }
}

TEST_CASE("another flag, another arch set or debug info make a source no shared one") {
  SECTION("a flag") {
    SharedWorld world("flags: {nvcc: [--use_fast_math], cxx: [-O1]}\n");
    const BuildPlan plan = world.planned();
    CHECK(after(plan, "obj/second/first.cu/first.o").empty());
    CHECK(after(plan, "obj/second/first.cpp/first.o").empty());
  }
  SECTION("archs") {
    SharedWorld world("archs: {min: \"9.0\"}\n");
    CHECK(after(world.planned(), "obj/second/first.cu/first.o").empty());
  }
  SECTION("debug info, which names the include folders") {
    SharedWorld world("");
    world.settings.debug.value = true;
    const BuildPlan plan = world.planned();
    CHECK(after(plan, "obj/second/first.cu/first.o").empty());
    CHECK(after(plan, "obj/second/first.cpp/first.o").empty());
  }
}

TEST_CASE("what an op is compiled with does not depend on whether another one has the source too") {
  SharedWorld both("defines: {NAME: second}\n");
  SharedWorld alone("defines: {NAME: second}\n");
  alone.selected.ops.erase(alone.selected.ops.begin());
  for (SharedWorld* world : {&both, &alone})
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
