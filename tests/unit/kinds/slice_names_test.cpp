// Names that have the list of archs in them, and line information: what tools get, and what outputs have.
#include <catch2/catch.hpp>

#include "unit/kinds/slice_world.h"

using namespace dsbuild;

namespace {

// `tools`: for the first list, and for another.
struct OwnNames {
  const char* why;
  std::string code;
  Args tools, for_another_list;
  bool has_line_information = false;
};

}  // namespace

TEST_CASE("slices: a list of archs that no text names does not count") {
  SliceWorld world;
  run_all(world);
  world.plan_for("800,900,1000");
  for (const char* part : {"front", "compute_80", "compute_90", "host"})
    CHECK(world.run_part(part).made_of == ResultOrigin::record);
}

TEST_CASE("slices: tools get names that are common to all lists, outputs those of their own") {
  SliceWorld world("__global__ void " + k_named + "::k() { 1 }\n");
  run_all(world);
  CHECK(has(world.ptx(), "void THRUST_300001_SM_800_900_NS::k() { 1 }\n"));
  CHECK(has(world.ptx(), ".entry _ZN27THRUST_300001_SM_800_900_NS1kEv\n"));
  CHECK(has(world.cubin(), std::string("\0_ZN27THRUST_300001_SM_800_900_NS1kEv\0", 38)));
  CHECK_FALSE(has(world.ptx() + world.cubin(), "SM_0000"));
  CHECK(has(world.files.bytes(SliceWorld::unit() + ".compute_80.cudafe1.stub.c"), "SM_800_900_NS::k"));
  CHECK_FALSE(has(world.files.bytes(SliceWorld::unit() + ".cudafe1.cpp"), "SM_0000"));

  world.plan_for("800,900,1000");
  for (const char* part : {"front", "compute_80", "compute_90"}) {
    INFO(part);
    const Ran ran = world.run_part(part);
    CHECK(ran.started == Args{"cpp"});
    CHECK(ran.made_of == ResultOrigin::cache);
    CHECK(world.bytes_of(world.slice(part)) == made_from_scratch(world, part));
  }
  CHECK(has(world.ptx(), "void THRUST_300001_SM_800_900_1000_NS::k() { 1 }\n"));
  CHECK(has(world.ptx(), ".entry _ZN32THRUST_300001_SM_800_900_1000_NS1kEv\n"));
  CHECK(has(world.cubin(), std::string("\0_ZN32THRUST_300001_SM_800_900_1000_NS1kEv\0", 43)));
  world.plan_for("800,900");
  CHECK(world.run_part("compute_80").started.empty());
  CHECK(has(world.cubin(), "SM_800_900_NS1kEv"));
}

TEST_CASE("slices: where names cannot be exchanged, tools get their own") {
  const Args twice = {"cpp", "cicc", "cicc", "ptxas"};
  for (const OwnNames& own : std::vector<OwnNames>{
           {"a string in the source", "__device__ s \"" + k_named + "\" { 1 }\n", k_device_tools,
            k_device_tools},
           {"a longer name", "__device__ int my_" + k_named + " { 1 }\n", k_device_tools, k_device_tools},
           {"a string in the PTX", "__device__ int " + k_named + "::s \"x_0000\" { 1 }\n", twice, twice},
           {"code that reads columns", "__device__ int " + k_named + "::k { __builtin_COLUMN }\n",
            k_device_tools, k_device_tools},
           {"columns in line information", "__device__ int " + k_named + "::k { 1 }\n", twice, twice, true},
           {"an image with the name in its code",
            "__device__ int " + k_named + "::keeps_name { 1 }\n",
            k_device_tools,
            {"cpp", "ptxas"}}}) {
    INFO(own.why);
    SliceWorld world(own.code);
    if (own.has_line_information) world.adapt = add_line_information;
    world.enter("/home/ann");
    CHECK(world.run_part("compute_80").started == own.tools);
    CHECK(has(world.ptx() + world.cubin(), "SM_800_900_NS") == !has(own.why, "a string in the source"));
    CHECK_FALSE(has(world.ptx() + world.cubin(), "SM_0000"));
    world.plan_for("800,900,1000");
    CHECK(world.run_part("compute_80").started == own.for_another_list);
    CHECK(world.bytes_of(world.slice("compute_80")) == made_from_scratch(world, "compute_80"));
    CHECK(has(world.ptx() + world.cubin(), "SM_800_900_1000_NS") == !has(own.why, "a string in the source"));
    world.enter("/home/bob");
    CHECK(world.run_part("compute_80").started.empty());
    CHECK(world.bytes_of(world.slice("compute_80")) == made_from_scratch(world, "compute_80"));
  }
}

TEST_CASE(
    "slices: line information names files below the folder that stands for the build's, and keeps lines") {
  SliceWorld world;
  world.adapt = add_line_information;
  world.enter("/home/ann");
  run_all(world);
  CHECK(has(world.ptx(), ".file 1 \"/dsbuild/pack/a.cu\"\n.loc 1 2 20\n"));
  world.write("\n" + k_kernel + k_host_code);
  CHECK(world.run_part("compute_80").started == k_device_tools);
  CHECK(has(world.ptx(), ".loc 1 3 20\n"));
  world.plan(SliceWorld::unit() + k_folder_in_objects_end, "/where/nvcc/runs\n");
  REQUIRE(world.files.remove_all(record_file(SliceWorld::unit() + ".compute_80.ptx")));
  REQUIRE(world.run_part("compute_80").code == 0);
  CHECK(
      has(world.ptx(), "\"/dsbuild/pack/a.cu\""));  // the cache has it: the folder is in the text's key alone
}
