// Slices of a CUDA source, by the words of their actions: what runs after which edit, and what comes from
// where. What holds for all kinds of action is in every_kind_test.cpp.
#include <catch2/catch.hpp>

#include "unit/kinds/slice_world.h"

using namespace dsbuild;

TEST_CASE("slices: a comment runs the preprocessor alone, and no output is written") {
  SliceWorld world;
  run_all(world);
  world.write("__global__ void k() { 1 }  // says what\n" + k_host_code);
  for (const char* part : {"front", "compute_80", "compute_90"}) {
    INFO(part);
    const auto before = world.identities_of(world.slice(part));
    const Ran ran = world.run_part(part);
    CHECK(ran.started == Args{"cpp"});
    CHECK(ran.made_of == ResultOrigin::same_input);
    CHECK(world.identities_of(world.slice(part)) == before);
  }
  CHECK(world.run_part("host").made_of == ResultOrigin::record);
  CHECK(world.run_part("fatbin").made_of == ResultOrigin::record);
}

TEST_CASE("slices: lines that move are no change where positions are not kept") {
  SliceWorld world;
  run_all(world);
  world.write("\n\n" + k_kernel + k_host_code);
  CHECK(world.run_part("compute_80").started == Args{"cpp"});
  CHECK(world.run_part("front").started == Args{"cpp"});
  CHECK(world.run_part("host").made_of == ResultOrigin::record);
}

TEST_CASE("slices: lines that move are a change where positions are kept") {
  SliceWorld world;
  world.adapt = [](StepFile& step) { step.positions = KeptPositions::any; };
  world.enter("/home/ann");
  run_all(world);
  world.write("\n\n" + k_kernel + k_host_code);
  CHECK(world.run_part("compute_80").started == Args{"cpp", "cicc"});
  CHECK(world.run_part("front").started == k_front_tools);
  CHECK(world.run_part("host").started == Args{"g++"});
}

TEST_CASE("slices: where the PTX stays, ptxas does not run") {
  SliceWorld world;
  run_all(world);
  const std::string images = world.identities_of(world.slice("compute_80")).at(1);
  world.write(k_kernel + "int other_host;\n");
  const Ran ran = world.run_part("compute_80");
  CHECK(ran.started == Args{"cpp", "cicc"});
  CHECK(ran.made_of == ResultOrigin::some_tools);
  CHECK(world.identities_of(world.slice("compute_80")).at(1) == images);
  CHECK(world.bytes_of(world.slice("compute_80")) == made_from_scratch(world, "compute_80"));
  CHECK(world.run_part("compute_80").made_of == ResultOrigin::record);
}

TEST_CASE("slices: where the PTX is known in the cache, another build folder takes its images") {
  SliceWorld world;
  run_all(world);
  world.write(k_kernel + "int other_host;\n");
  world.enter("/home/bob");
  CHECK(world.run_part("compute_80").started == Args{"cpp", "cicc"});
  CHECK(world.bytes_of(world.slice("compute_80")) == made_from_scratch(world, "compute_80"));
}

TEST_CASE("slices: a host compiler with other parts runs again, cudafe++, cicc and ptxas do not") {
  SliceWorld world;
  run_all(world);
  const std::string ptx = world.ptx();
  world.plan(k_nvcc_id_file, "00ee /usr/bin/nvcc\n");
  for (const char* part : {"front", "compute_80"})
    CHECK(world.run_part(part).started == Args{"cpp"});
  CHECK(world.ptx() == ptx);
  CHECK(world.run_part("host").started == Args{"g++"});
}

TEST_CASE("slices: with another cudafe++, cicc or ptxas, nothing of the old ones is taken") {
  SliceWorld world;
  run_all(world);
  world.plan(k_nvcc_id_file, "00ee /usr/bin/nvcc\n");
  world.plan(k_device_id_file, "00ee cicc\n");
  CHECK(world.run_part("front").started == k_front_tools);
  CHECK(world.run_part("compute_80").started == k_device_tools);
}

TEST_CASE("slices: cudafe++, cicc and ptxas say which files they are given and make, other tools do not") {
  SliceWorld world;
  run_all(world);
  std::map<std::string, HermeticFiles> files;
  for (const ToolRun& run : world.runner.seen)
    if (run.hermetic) files[run.command.argv.back()] = *run.hermetic;
  REQUIRE(files.size() == 5);
  const HermeticFiles& cicc = files.at("a.compute_80.ptx");
  CHECK(cicc.inputs == Args{"a.module_id", "a.compute_80.cpp1.ii"});
  CHECK(has(join(cicc.outputs, " "), "a.compute_80.cudafe1.stub.c"));
  CHECK(cicc.outputs.back() == "a.compute_80.ptx");
  const HermeticFiles ptxas{{"a.compute_80.ptx"}, {"a.compute_80.cubin"}, {"a.compute_80.cubin"}};
  CHECK(files.at("a.compute_80.cubin") == ptxas);
}

TEST_CASE("slices: images that were damaged are not taken for those of their PTX") {
  SliceWorld world;
  run_all(world);
  world.write(k_kernel + "int other_host;\n");
  world.files.add_file(SliceWorld::unit() + ".compute_80.cubin", "damaged");
  CHECK(world.run_part("compute_80").started == Args{"cpp", "cicc"});
  CHECK(world.bytes_of(world.slice("compute_80")) == made_from_scratch(world, "compute_80"));
}

TEST_CASE("slices: device code alone makes no host object, host code alone no image") {
  SliceWorld world;
  run_all(world);
  world.write("__global__ void k() { 2 }\n" + k_host_code);
  CHECK(world.run_part("front").started == k_front_tools);
  CHECK(world.run_part("compute_90").started == k_device_tools);
  CHECK(world.run_part("host").made_of == ResultOrigin::record);
  CHECK(world.run_part("compute_80").started == k_device_tools);
  CHECK(world.run_part("fatbin").started == Args{"fatbinary", "as"});
  world.write("__global__ void k() { 2 }\nint other_host;\n");
  CHECK(world.run_part("front").started == k_front_tools);
  CHECK(world.run_part("compute_90").started == Args{"cpp", "cicc"});
  CHECK(world.run_part("compute_80").started == Args{"cpp", "cicc"});
  CHECK(world.run_part("host").started == Args{"g++"});
  CHECK(world.run_part("fatbin").made_of == ResultOrigin::record);
}

TEST_CASE("slices: host code whose lines moved gives the object that is there") {
  SliceWorld world;
  run_all(world);
  const auto before = world.identities_of(world.slice("host"));
  world.write("\n__global__ void k() { 2 }\n" + k_host_code);
  CHECK(world.run_part("front").started == k_front_tools);
  REQUIRE(world.run_part("compute_90").code == 0);
  const Ran ran = world.run_part("host");
  CHECK(ran.started.empty());
  CHECK(ran.made_of == ResultOrigin::same_input);
  CHECK(world.identities_of(world.slice("host")) == before);
}

TEST_CASE("slices: another op with the same source takes what the first made, behind its own preprocessor") {
  SliceWorld world;
  run_all(world);
  world.plan_unit("lion");
  for (const char* part : {"front", "compute_80", "compute_90"}) {
    INFO(part);
    const Ran ran = world.run(world.slice(part, "lion"));
    CHECK(ran.started == Args{"cpp"});
    CHECK(ran.made_of == ResultOrigin::cache);
    CHECK(world.bytes_of(world.slice(part, "lion")) == world.bytes_of(world.slice(part)));
  }
  for (const char* part : {"host", "fatbin"})
    CHECK(world.run(world.slice(part, "lion")).started.empty());
}

// What tools say

const std::string k_warnings = "__global__ void k() { warn_cudafe warn_cicc warn_ptxas }\nint warn_gcc;\n";

TEST_CASE("slices: warnings are said again with what is taken, in words of the checkout") {
  SliceWorld world(k_warnings, "#warning old header\nint header;\n");
  const std::string of_header = "pack/a.h:1:2: warning: #warning old header\n";
  const std::map<std::string, std::string> expected = {
      {"front",
       of_header + "pack/a.cu(2): warning #1: __global__ void k() { warn_cudafe warn_cicc warn_ptxas }\n"},
      {"compute_80",
       of_header + "pack/a.cu(2): warning #1: __global__ void k() { warn_cudafe warn_cicc warn_ptxas }\n"
                   "ptxas warning : __global__ void k() { warn_cudafe warn_cicc warn_ptxas }\n"},
      {"host", "pack/a.cu(3): warning #1: int warn_gcc;\n"}};
  REQUIRE(world.run_part("compute_90").code == 0);
  for (const char* part : {"front", "compute_80", "host"}) {
    INFO(part);
    CHECK(world.run_part(part).said == expected.at(part));
    CHECK(world.run_part(part).said == "");  // whose record holds says nothing: the driver reads it
    world.files.add_file(world.slice(part).outputs.front(), "damaged");
    CHECK(world.run_part(part).said == expected.at(part));
  }
  world.enter("/home/bob");
  REQUIRE(world.run_part("compute_90").code == 0);
  for (const char* part : {"front", "compute_80", "host"}) {
    INFO(part);
    const Ran taken = world.run_part(part);
    CHECK(taken.started.empty());
    CHECK(taken.said == expected.at(part));
    std::string recorded;
    const std::optional<Record> record = world.record_of(world.slice(part));
    for (const ToolOutput& said : record->tool_output)
      recorded += said.text;
    CHECK(recorded == expected.at(part));
  }
}

TEST_CASE("slices: warnings are said once where tools run in part") {
  SliceWorld world(k_warnings);
  const std::string of_cicc =
      "pack/a.cu(2): warning #1: __global__ void k() { warn_cudafe warn_cicc warn_ptxas }\n";
  const std::string of_ptxas = "ptxas warning : __global__ void k() { warn_cudafe warn_cicc warn_ptxas }\n";
  REQUIRE(world.run_part("compute_80").said == of_cicc + of_ptxas);
  world.write(k_warnings + "int other_host;\n");
  const Ran ran = world.run_part("compute_80");
  CHECK(ran.started == Args{"cpp", "cicc"});
  CHECK(ran.said == of_cicc + of_ptxas);
  world.write(k_warnings + "int other_host;  // with a comment\n");
  const Ran same = world.run_part("compute_80");
  CHECK(same.started == Args{"cpp"});
  CHECK(same.said == of_cicc + of_ptxas);
}

TEST_CASE("slices: warnings that name lines are not taken for a text whose lines moved") {
  SliceWorld world(k_warnings);
  run_all(world);
  world.write("\n" + k_warnings);
  world.enter("/home/ann");
  const Ran device = world.run_part("compute_80");
  CHECK(device.started == Args{"cpp", "cicc"});
  CHECK(has(device.said, "pack/a.cu(3): warning"));
  const Ran front = world.run_part("front");
  CHECK(front.started == k_front_tools);
  CHECK(has(front.said, "pack/a.cu(3): warning"));
  const Ran host = world.run_part("host");
  CHECK(host.started == Args{"g++"});
  CHECK(host.said == "pack/a.cu(4): warning #1: int warn_gcc;\n");
  world.enter("/home/bob");
  CHECK(world.run_part("compute_80").said == device.said);
}

TEST_CASE("slices: warnings have the names of their own list") {
  SliceWorld world("__global__ void " + k_named + "::k() { warn_cicc }\n");
  CHECK(has(world.run_part("compute_80").said, "THRUST_300001_SM_800_900_NS::k"));
  world.plan_for("800,900,1000");
  const Ran taken = world.run_part("compute_80");
  CHECK(taken.started == Args{"cpp"});
  CHECK(has(taken.said, "THRUST_300001_SM_800_900_1000_NS::k"));
}

// What is read

TEST_CASE("slices: a header that comes before another is seen, another file is not") {
  SliceWorld world("#include <v.h>\n" + k_kernel);
  world.source("include/v.h", "int v;\n");
  world.adapt = [](StepFile& step) {
    for (const char* folder : {"-Ipack/include", "-Ipack/first"})
      if (!step.preprocess.empty()) step.preprocess.insert(step.preprocess.begin() + 1, folder);
  };
  world.enter("/home/ann");
  REQUIRE(world.run_part("compute_80").code == 0);
  world.source("first/w.h", "int w;\n");
  CHECK(world.run_part("compute_80").made_of == ResultOrigin::record);
  world.source("first/v.h", "int another_v;\n__device__ int d { 1 }\n");
  CHECK(world.run_part("compute_80").started == k_device_tools);
  CHECK(has(world.ptx(), "__device__ int d { 1 }"));
  REQUIRE(world.files.remove_all("pack/first/v.h"));
  CHECK(world.run_part("compute_80").started.empty());  // that state is in the cache
  CHECK_FALSE(has(world.ptx(), "__device__ int d { 1 }"));
}

TEST_CASE("slices: a name that __has_include asks for counts while it is absent") {
  SliceWorld world("#if __has_include(\"w.h\")\n__device__ int w { 1 }\n#endif\n" + k_kernel);
  REQUIRE(world.run_part("compute_80").code == 0);
  CHECK_FALSE(has(world.ptx(), "int w"));
  world.source("w.h", "\n");
  CHECK(world.run_part("compute_80").started == k_device_tools);
  CHECK(has(world.ptx(), "int w"));
}

TEST_CASE("slices: a header of the toolkit counts") {
  SliceWorld world;
  run_all(world);
  world.files.add_file("/cuda/targets/x86_64-linux/include/cuda_runtime.h", "__device__ int r { 1 }\n");
  CHECK(world.run_part("compute_80").started == k_device_tools);
  CHECK(world.run_part("front").started == k_front_tools);
  CHECK(world.run_part("host").code == 0);
  CHECK(world.bytes_of(world.slice("host")).front() != "");
  world.files.add_file("/cuda/targets/x86_64-linux/include/fatbinary_section.h", "int other_section;\n");
  CHECK(world.run_part("host").started == Args{"g++"});
  CHECK(has(world.bytes_of(world.slice("host")).front(), "other_section"));
}

TEST_CASE("slices: what is made of files that no compiler names is made each time, and never kept") {
  SliceWorld world("#embed \"data.bin\"\n" + k_kernel);
  world.source("data.bin", "one");
  for (const char* part : {"front", "compute_80"}) {
    INFO(part);
    const Args tools = part == std::string("front") ? k_front_tools : k_device_tools;
    world.enter("/home/ann");
    CHECK(world.run_part(part).started == tools);
    CHECK(world.record_of(world.slice(part))->incomplete == "pack/a.cu");
    CHECK(world.run_part(part).started == tools);
    world.enter("/home/bob");
    CHECK(world.run_part(part).started == tools);
  }
}

TEST_CASE(
    "slices: what the host's assembler reads counts where it says so; else the object is made each time") {
  for (const bool tells : {true, false}) {
    INFO(tells);
    SliceWorld world(k_kernel + "asm .incbin \"pack/data.bin\"\n");
    world.source("data.bin", "one");
    if (!tells) world.telling = "";
    world.enter("/home/ann");
    for (const char* part : {"front", "compute_90", "host"})
      REQUIRE(world.run_part(part).code == 0);
    CHECK((world.run_part("host").made_of == ResultOrigin::record) == tells);
    CHECK(world.record_of(world.slice("host"))->incomplete.empty() == tells);
    world.source("data.bin", "two");
    CHECK(world.run_part("host").started == Args{"g++"});
    CHECK(has(world.bytes_of(world.slice("host")).front(), sha256("two")));
    world.source("data.bin", "one");
    CHECK(world.run_part("host").started == (tells ? Args{} : Args{"g++"}));
    CHECK(has(world.bytes_of(world.slice("host")).front(), sha256("one")));
  }
}

// A toolkit's header is edited while the host compile runs; meanwhile somebody else made the right object.
TEST_CASE("slices: an unsettled host object is not taken for that of a later record") {
  SliceWorld world;
  const std::string header = "/cuda/targets/x86_64-linux/include/fatbinary_section.h";
  for (const char* part : {"front", "compute_90"})
    REQUIRE(world.run_part(part).code == 0);
  world.tools.after["g++"] = [&] { world.edit_now(header, "int meanwhile;\n"); };
  REQUIRE(world.run_part("host").code == 0);
  world.tools.after.clear();
  world.wait_a_second();
  world.enter("/home/bob");
  for (const char* part : {"front", "compute_90", "host"})
    REQUIRE(world.run_part(part).code == 0);
  CHECK(has(world.bytes_of(world.slice("host")).front(), "meanwhile"));
  world.enter("/home/ann");
  REQUIRE(world.run_part("host").code == 0);
  CHECK(has(world.bytes_of(world.slice("host")).front(), "meanwhile"));
}

// What tools leave

TEST_CASE(
    "slices: a preprocessor, cudafe++, cicc and ptxas that refuse the source end the part with their code") {
  for (const auto& [word, part, code] : std::vector<std::tuple<std::string, std::string, int>>{
           {"fail_cudafe", "front", 2}, {"fail_cicc", "compute_80", 2}, {"fail_ptxas", "compute_80", 255}}) {
    INFO(word);
    SliceWorld world("__global__ void k() { " + word + " }\n");
    const Ran ran = world.run_part(part);
    CHECK(ran.code == code);
    CHECK(ran.made_of == ResultOrigin::nothing_said);
    CHECK(has(ran.said, word));
    CHECK(has(ran.said, "the same with nvcc alone: nvcc -O3"));
    CHECK(world.bytes_of(world.slice(part)) == std::vector<std::string>(world.slice(part).outputs.size()));
    CHECK(world.run_part(part).code == code);  // a failure is not kept
  }
  SliceWorld world("#error not for this arch\n");
  CHECK(world.run_part("compute_80").said.starts_with("pack/a.cu:2:2: error: #error not for this arch\n"));
}

TEST_CASE("slices: an image that is not an ELF file is an error") {
  SliceWorld world;
  world.tools.after["ptxas"] = [&] {
    world.files.add_file(SliceWorld::unit() + ".compute_80.run/a.compute_80.cubin", "half");
  };
  const Ran ran = world.run_part("compute_80");
  CHECK(ran.error == "bad_elf");
  CHECK_FALSE(world.has_record(world.slice("compute_80")));
  CHECK(world.cubin() == "");
}

TEST_CASE("slices: what a killed part left in its folder is gone before tools start") {
  SliceWorld world;
  const std::string left = SliceWorld::unit() + ".compute_80.run/left.h";
  world.files.add_file(left, "int left;\n");
  bool is_there = true;
  world.tools.before["cpp"] = [&] { is_there = world.files.exists(left); };
  REQUIRE(world.run_part("compute_80").code == 0);
  CHECK_FALSE(is_there);
}

TEST_CASE(
    "slices: a part leaves its outputs and its record alone; fatbin removes those of archs that are gone") {
  SliceWorld world;
  run_all(world);
  CHECK_FALSE(world.files.exists(SliceWorld::unit() + ".compute_80.run"));
  for (const char* end : {".fatbin", ".fatbin.s", ".o.tmp", ".compute_80.ptx.stale"})
    CHECK_FALSE(world.files.exists(SliceWorld::unit() + end));
  for (const char* end : {".compute_70.ptx", ".compute_70.cubin", ".compute_70.ptx.record"})
    world.files.add_file(SliceWorld::unit() + end, "of another plan");
  world.write("__global__ void k() { 2 }\n");
  run_all(world);
  for (const char* end : {".compute_70.ptx", ".compute_70.cubin", ".compute_70.ptx.record"})
    CHECK_FALSE(world.files.exists(SliceWorld::unit() + end));
  CHECK(world.run_part("compute_80").made_of == ResultOrigin::record);
}

TEST_CASE(
    "slices: tools run in the part's folder with nvcc's variables, the host compiler where includes are "
    "relative") {
  SliceWorld world;
  run_all(world);
  for (const Command& command : world.processes.started) {
    const std::string name = FakeCompilers::name_of(command);
    INFO(name);
    CHECK(command.env.at("PATH") == "/cuda/bin/../nvvm/bin:/cuda/bin:/usr/bin");
    const bool is_beside_images = name == "fatbinary" || name == "as";
    const bool runs_in_build_folder = name == "cpp" || name == "g++";
    CHECK(command.cwd.empty() == runs_in_build_folder);
    if (is_beside_images) CHECK(command.cwd == "obj/adam/a.cu");
    if (name == "ptxas") CHECK(command.cwd.string().ends_with(".run"));
    if (name == "g++") CHECK(has_argument(command.argv, "-fdebug-prefix-map=/home/ann/build=/dsbuild"));
  }
}

TEST_CASE("slices: a step file that names nothing to do is refused, one that is gone an error") {
  SliceWorld world;
  Action action = world.slice("compute_80");
  world.files.add_file(action.words.at(3), "part compute_80\n");
  CHECK(world.run(action).error == "bad_option");
  REQUIRE(world.files.remove_all(action.words.at(3)));
  CHECK(world.run(action).error == "io");
  CHECK(world.processes.starts() == 0);
}
