#include <catch2/catch.hpp>

#include "base/args.h"
#include "base/build_layout.h"
#include "plan_world.h"

using namespace dsbuild;

namespace {

constexpr const char* k_ported =
    "backends: [cuda, hip]\ninclude_dirs: [include]\n"
    "sources: [{path: adam.cu, hipify: true}, adam.cpp]\n";

// As probe_hipify finds it.
struct HipifyWorld : PlanWorld {
  explicit HipifyWorld(const std::string& body) {
    files.add_directory("/pack/include");
    add_op("adam", body);
    Finding found;
    found.ok = true;
    found.usage.hipify = Hipify{"/usr/bin/python3", "/torch/utils/hipify", "hipify 2.0.0\n"};
    requirements.by_op["adam"] = requirements.by_op["adam.hip"] = {found};
  }
  BuildPlan plan_for(const std::string& archs) {
    const auto plan = this->plan(archs);
    if (!plan) throw std::runtime_error(plan.error().what);
    return build(*plan);
  }
};

const Edge& compile_of(const BuildPlan& plan, const std::string& source) {
  return *std::ranges::find_if(plan.edges,
                               [&](const Edge& edge) { return edge.is_compile() && edge.source == source; });
}

}  // namespace

TEST_CASE("a source that is hipified is compiled as what one action for the op makes of it") {
  HipifyWorld world(k_ported);
  const BuildPlan plan = world.plan_for("gfx90a");
  const Edge* hipify = find_edge(plan, "hipify/adam.list");
  REQUIRE(hipify);
  CHECK(step_words(plan, *hipify) == Args{"hipify", "tools/hipify.id", "hipify/adam.list", "--",
                                          "/usr/bin/python3", "/torch/utils/hipify", "-Ipack/include",
                                          "pack/adam.cu"});
  CHECK(hipify->more_outputs == Args{"hipify/adam/adam.cu"});
  const Edge& compile = compile_of(plan, "adam.cu");
  CHECK(compile.inputs == Args{"hipify/adam/adam.cu"});
  CHECK(compile.is_dirty_after("hipify/adam.list"));
  CHECK(std::ranges::count(compile.flags, "-Ihipify/adam/include") == 1);
  CHECK(std::ranges::count(compile.flags, "-Ipack/include") == 0);
  // Of another source nothing is hipified.
  CHECK(compile_of(plan, "adam.cpp").inputs == Args{"pack/adam.cpp"});
  CHECK_FALSE(compile_of(plan, "adam.cpp").is_dirty_after("hipify/adam.list"));
}

TEST_CASE("hipify starts before what waits for it, and its tool is a planned file") {
  HipifyWorld world(k_ported);
  const BuildPlan plan = world.plan_for("gfx90a");
  CHECK(plan.edges.front().kind == EdgeKind::hipify);
  const auto file = std::ranges::find(plan.files, std::string(k_hipify_id_file), &PlannedFile::path);
  REQUIRE(file != plan.files.end());
  CHECK(file->content.starts_with("hipify 2.0.0\nscript "));
}

TEST_CASE("for CUDA nothing is hipified, also where the op is built for both") {
  HipifyWorld world(k_ported);
  CHECK_FALSE(find_edge(world.plan_for("8.0"), "hipify/adam.list"));
  const BuildPlan both = world.plan_for("8.0;gfx90a");
  CHECK(std::ranges::count(both.edges, EdgeKind::hipify, &Edge::kind) == 1);
  // Its folder does not tell that there is another backend in the plan.
  CHECK(find_edge(both, "hipify/adam.list")->op == "adam.hip");
  for (const Edge& edge : both.edges)
    if (edge.kind == EdgeKind::cuda_compile) CHECK(edge.inputs == Args{"pack/adam.cu"});
}

TEST_CASE("one file of several units is hipified once") {
  HipifyWorld world("backends: [cuda, hip]\nsources: [{path: adam.cu, hipify: true, for: {BITS: [4, 8]}}]\n");
  const BuildPlan plan = world.plan_for("gfx90a");
  CHECK(find_edge(plan, "hipify/adam.list")->inputs == Args{"pack/adam.cu"});
}

TEST_CASE("values of ROCm's version and of the wavefront stand in the commands") {
  HipifyWorld world(
      "backends: [cuda, hip]\nsources: [adam.cu]\n"
      "defines: {LANES: {value: rocm.wavefront, when: {rocm: '>=6.0'}}}\n"
      "flags: {hip: [-DMAJOR=rocm.major, -DMINOR=rocm.minor]}\n");
  world.requirements.rocm = *parse_version("6.3");
  const auto flags = compile_of(world.plan_for("gfx90a;gfx942"), "adam.cu").flags;
  for (const char* flag : {"-DMAJOR=6", "-DMINOR=3", "-DLANES=64"})
    CHECK(std::ranges::count(flags, flag) == 1);
  const auto others = compile_of(world.plan_for("gfx1100"), "adam.cu").flags;
  CHECK(std::ranges::count(others, "-DLANES=32") == 1);
  const auto cuda = compile_of(world.plan_for("8.0"), "adam.cu").flags;
  CHECK(std::ranges::none_of(cuda, [](const std::string& flag) { return flag.starts_with("-DLANES"); }));
}
