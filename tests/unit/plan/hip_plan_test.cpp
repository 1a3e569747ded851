#include <catch2/catch.hpp>

#include "base/args.h"
#include "base/digest.h"
#include "plan/hip_slices.h"
#include "plan_world.h"

using namespace dsbuild;

namespace {

constexpr const char* k_both =
    "backends: [cuda, hip]\nsources: [adam.cu, adam.cpp]\n"
    "flags: {hip: [-O2], cxx: [-O1]}\n";

BuildPlan sliced(PlanWorld& world, const std::string& archs) {
  const auto plan = world.plan(archs);
  if (!plan) throw std::runtime_error(plan.error().what);
  BuildPlan build = world.build_by_op(*plan);
  slice_hip_edges(build, {22, "host-x86_64-unknown-linux-gnu"});
  put_longest_first(build.edges, world.history, "native");
  return build;
}

const Edge& hip_edge(const BuildPlan& plan, const std::string& output) {
  const Edge* edge = find_edge(plan, output);
  if (!edge) FAIL("no edge makes " << output);
  return *edge;
}

std::string command_of(const BuildPlan& plan, const std::string& output) {
  return shell_join(plain_argv(plan, hip_edge(plan, output)));
}

const std::string k_hip_unit = "obj/adam.hip/adam.cu/adam";

}  // namespace

TEST_CASE("a HIP source has a slice for each target, one for the host's code, and the object of the images") {
  PlanWorld world;
  world.add_op("adam", k_both);
  const BuildPlan plan = sliced(world, "gfx942;gfx90a:xnack+;gfx1100");
  const std::string clang =
      "/rocm/llvm/bin/clang++ --rocm-path=/rocm -x hip -O3 -std=c++17 -O2 -fPIC -D__HIP_PLATFORM_AMD__=1 "
      "-cuid=" +
      sha256("adam.cu").substr(0, 16);
  CHECK(
      command_of(plan, k_hip_unit + ".gfx90a_xnack_on.co") ==
      clang +
          " --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx90a:xnack+ -Xclang -dependency-file "
          "-Xclang " +
          k_hip_unit + ".gfx90a_xnack_on.co.d -Xclang -MT -Xclang " + k_hip_unit +
          ".gfx90a_xnack_on.co -Xclang -sys-header-deps -c pack/adam.cu -o " + k_hip_unit +
          ".gfx90a_xnack_on.co.tmp");
  CHECK(command_of(plan, k_hip_unit + ".host.o") ==
        clang + " --cuda-host-only -Xclang -cuid=" + sha256("adam.cu").substr(0, 16) + " -MD -MF " +
            k_hip_unit + ".host.o.d -MT " + k_hip_unit + ".host.o -c pack/adam.cu -o " + k_hip_unit +
            ".host.o.tmp");
  const Edge& bundle = hip_edge(plan, k_hip_unit + ".o");
  CHECK(bundle.inputs == Args{k_hip_unit + ".host.o", k_hip_unit + ".gfx1100.co",
                              k_hip_unit + ".gfx90a_xnack_on.co", k_hip_unit + ".gfx942.co"});
  CHECK(bundle.flags == Args{"host-x86_64-unknown-linux-gnu-", "hipv4-amdgcn-amd-amdhsa--gfx1100",
                             "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "hipv4-amdgcn-amd-amdhsa--gfx942"});
}

TEST_CASE("a HIP op's other files are the machine's compiler's, which links it without ROCm's runtime") {
  PlanWorld world;
  world.add_op("adam", k_both);
  const BuildPlan plan = sliced(world, "gfx942");
  CHECK(command_of(plan, "obj/adam.hip/adam.cpp/adam.o")
            .starts_with("/usr/bin/g++ -std=c++17 -O1 -fPIC -fno-canonical-system-headers "
                         "-D__HIP_PLATFORM_AMD__=1 -MD"));
  const std::string link = command_of(plan, "lib/adam.so");
  CHECK(link.starts_with("/usr/bin/g++ "));
  CHECK(link.find("-Wl,--no-undefined") != std::string::npos);
  CHECK(link.find("amdhip64") == std::string::npos);
  CHECK(hip_edge(plan, "lib/adam.so").inputs ==
        Args{"obj/adam.hip/adam.cpp/adam.o", k_hip_unit + ".o", k_hip_unit + ".host.o"});
}

TEST_CASE("one HIP target more is one slice more, and no other compile is another") {
  PlanWorld world;
  world.add_op("adam", k_both);
  const BuildPlan one = sliced(world, "gfx942"), two = sliced(world, "gfx942;gfx1100");
  for (const Edge& edge : two.edges) {
    if (!edge.is_compile()) continue;
    const Edge* before = find_edge(one, edge.output);
    CHECK((before ? *before == edge : edge.output == k_hip_unit + ".gfx1100.co"));
  }
}

TEST_CASE("an op for two vendors is two libraries in one plan, each with its own shared set and compilers") {
  PlanWorld world;
  world.add_op("adam", k_both);
  world.add_op("lion", "backend: cuda\nsources: [lion.cu]\narchs: {min: \"9.0\"}\n");
  const auto archs = world.plan("8.0;9.0;gfx942;gfx1100");
  REQUIRE(archs);
  CHECK(target_names(archs->shared) == "gfx1100 gfx942 sm_90");
  CHECK(target_names(archs->find("adam.cuda")->extra) == "sm_80");
  CHECK(archs->find("adam.hip")->extra.empty());
  const BuildPlan plan = sliced(world, "8.0;9.0;gfx942;gfx1100");
  CHECK(hip_edge(plan, "lib/adam.cuda.so").by_host_compiler);
  CHECK_FALSE(hip_edge(plan, "lib/adam.hip.so").by_host_compiler);
  CHECK(find_edge(plan, "obj/adam.cuda/adam.cu/adam.o"));
  CHECK(find_edge(plan, k_hip_unit + ".gfx942.co"));
  CHECK(find_edge(plan, "lib/lion.so"));
}

TEST_CASE("PTX of a list is NVIDIA's alone: a HIP op has not lost it") {
  PlanWorld world;
  world.add_op("adam", k_both);
  const auto archs = world.plan("8.0+PTX;gfx942");
  REQUIRE(archs);
  CHECK_FALSE(archs->find("adam.hip")->lost_only_ptx);
  CHECK(archs->warnings.empty());
}

TEST_CASE("an op for none of the GPUs of a list is skipped, and says so") {
  PlanWorld world;
  world.add_op("adam", k_both);
  world.add_cuda_op("attention");
  const auto archs = world.plan("gfx942;gfx1100");
  REQUIRE(archs);
  CHECK(archs->find("adam")->status == OpStatus::build);
  CHECK(archs->find("attention")->status == OpStatus::skip);
  CHECK(archs->find("attention")->reason ==
        "it is written for CUDA alone, and gfx1100 gfx942 are of other GPUs");
}

TEST_CASE("an op that says why it is not for HIP is skipped with that reason") {
  PlanWorld world;
  world.add_op("adam", k_both);
  world.add_cuda_op("attention", "unsupported: {hip: it is made of CUTLASS, sycl: it is CUDA}\n");
  const auto archs = world.plan("gfx942");
  REQUIRE(archs);
  CHECK(archs->find("attention")->reason == "not for HIP: it is made of CUTLASS");
  CHECK(world.plan("8.0;gfx942")->find("attention")->status == OpStatus::build);
}

TEST_CASE("HIP's filters are its own: what it is for says the op by backend") {
  PlanWorld world;
  world.add_op("adam", std::string(k_both) + "archs: {cuda: {min: \"9.0\"}, hip: {only: [gfx942]}}\n");
  const auto archs = world.plan("8.0;9.0;gfx942;gfx1100");
  REQUIRE(archs);
  CHECK(target_names(archs->find("adam.cuda")->archs) == "sm_90");
  CHECK(target_names(archs->find("adam.hip")->archs) == "gfx942");
}

TEST_CASE("a plan for CUDA alone is what it is without HIP") {
  PlanWorld both, plain;
  both.add_op("adam", k_both);
  plain.add_op("adam", "sources: [adam.cu, adam.cpp]\nflags: {cxx: [-O1]}\n");
  const BuildPlan one = both.build(*both.plan("8.0;9.0+PTX")),
                  other = plain.build(*plain.plan("8.0;9.0+PTX"));
  CHECK(one.edges == other.edges);
  CHECK(one.tools.of("hip").empty());
}
