#include <catch2/catch.hpp>

#include "base/args.h"
#include "plan_world.h"

using namespace dsbuild;

namespace {

constexpr const char* k_for_sycl =
    "backends: [cuda, hip, sycl]\n"
    "sources: [{path: adam.cu, backend: [cuda, hip]}, {path: adam.sycl.cpp, backend: sycl}, adam.cpp]\n"
    "defines: {WIDTH: \"4\"}\nflags: {sycl: [-O3], cxx: [-O1]}\n";
const std::string k_sycl_object = "obj/adam.sycl/adam.sycl.cpp/adam.sycl.o";
const std::string k_images = "obj/adam.sycl/device_images.o";

BuildPlan planned_for(PlanWorld& world, const std::string& archs) {
  const auto plan = world.plan(archs);
  if (!plan) throw std::runtime_error(plan.error().what);
  return world.build(*plan);
}

Args words_of(const BuildPlan& plan, const std::string& output) {
  const Edge* edge = find_edge(plan, output);
  if (!edge) FAIL("no edge makes " << output);
  return plain_argv(plan, *edge);
}

// icpx takes the host's options apart as a shell does, so they may have quotes.
Args compile_for(const std::string& targets, const std::string& host_options) {
  return {"/oneapi/bin/icpx",
          "-fsycl",
          "-sycl-std=2020",
          "-fsycl-targets=" + targets,
          "-std=c++17",
          "-O3",
          "-DWIDTH=4",
          "-fPIC",
          "-fsycl-host-compiler=/usr/bin/g++",
          "-fsycl-host-compiler-options=" + host_options,
          "-x",
          "c++",
          "-MD",
          "-MF",
          k_sycl_object + ".d",
          "-MT",
          k_sycl_object,
          "-c",
          "pack/adam.sycl.cpp",
          "-o",
          k_sycl_object + ".tmp"};
}

Args device_link_for(const std::string& targets, const Args& more) {
  Args words = {"/oneapi/bin/icpx", "-o",          k_images + ".tmp",          "@" + k_images + ".rsp",
                "-fsycl",           "-fsycl-link", "-fsycl-targets=" + targets};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("SYCL for one device, for several and as SPIR-V alone: icpx's lines") {
  PlanWorld world;
  world.add_op("adam", k_for_sycl);
  struct Row {
    std::string archs, targets;
    Args devices;
  };
  const std::vector<Row> rows = {{"pvc", "spir64_gen", {"-Xs", "-device pvc"}},
                                 {"pvc,dg2-g10,spir64", "spir64_gen,spir64", {"-Xs", "-device dg2-g10,pvc"}},
                                 {"spir64", "spir64", {}}};
  for (const Row& row : rows) {
    CAPTURE(row.archs);
    const BuildPlan plan = planned_for(world, row.archs);
    CHECK(words_of(plan, k_sycl_object) == compile_for(row.targets,
                                                       "'-std=c++17' -O1 -DWIDTH=4 -fPIC "
                                                       "-fno-canonical-system-headers"));
    CHECK(words_of(plan, k_images) == device_link_for(row.targets, row.devices));
    CHECK(find_edge(plan, k_images)->inputs == Args{k_sycl_object});
  }
}

TEST_CASE("a debug build of SYCL's has -g in both codes") {
  PlanWorld world;
  world.add_op("adam", k_for_sycl);
  world.settings.debug.value = true;
  const Args words = words_of(planned_for(world, "pvc"), k_sycl_object);
  CHECK(std::ranges::count(words, "-g") == 1);
  CHECK(std::ranges::count(words,
                           "-fsycl-host-compiler-options='-std=c++17' -O1 -DWIDTH=4 -fPIC "
                           "-fno-canonical-system-headers -g") == 1);
}

TEST_CASE("a SYCL op's other files are the machine's compiler's, which links it with SYCL's runtime") {
  PlanWorld world;
  world.add_op("adam", k_for_sycl);
  const BuildPlan plan = planned_for(world, "pvc");
  const std::string object = "obj/adam.sycl/adam.cpp/adam.o";
  CHECK(words_of(plan, object).front() == "/usr/bin/g++");
  const Edge* link = find_edge(plan, "lib/adam.so");
  REQUIRE(link);
  CHECK(link->inputs == Args{object, k_sycl_object, k_images});  // sources are sorted by name
  const Args words = plain_argv(plan, *link);
  CHECK(words.front() == "/usr/bin/g++");
  CHECK(std::ranges::count(words, "-L/oneapi/lib") == 1);
  CHECK(std::ranges::count(words, "-lsycl") == 1);
}

TEST_CASE("one device more is another device link, and for SYCL no other compile") {
  PlanWorld world;
  world.add_op("adam", k_for_sycl);
  const BuildPlan one = planned_for(world, "pvc"), two = planned_for(world, "pvc,dg2-g10");
  CHECK(*find_edge(one, k_sycl_object) == *find_edge(two, k_sycl_object));
  CHECK(*find_edge(one, k_images) != *find_edge(two, k_images));
}

TEST_CASE("an op for three vendors is three libraries, each with its own toolkit and targets") {
  PlanWorld world;
  world.add_op("adam", k_for_sycl);
  const auto archs = world.plan("8.0+PTX,gfx942,pvc");
  REQUIRE(archs);
  CHECK(target_names(archs->find("adam.cuda")->archs) == "sm_80 compute_80");
  CHECK(target_names(archs->find("adam.hip")->archs) == "gfx942");
  CHECK(target_names(archs->find("adam.sycl")->archs) == "pvc");
  const BuildPlan plan = world.build(*archs);
  for (const char* library : {"lib/adam.cuda.so", "lib/adam.hip.so", "lib/adam.sycl.so"})
    CHECK(find_edge(plan, library));
}
