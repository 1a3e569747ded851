// What a requirement gives to an op's commands: where it stands, and that other ops are as they were.
#include <catch2/catch.hpp>

#include "base/args.h"
#include "unit/plan/plan_world.h"

using namespace dsbuild;

namespace {

// An extension of torch in the words of its requirement's finding, and a native op beside it.
struct TorchPlan : PlanWorld {
  TorchPlan() {
    add_op("ext",
           "sources: [ext.cu, ext.cpp]\nflags: {cxx: [-O2], nvcc: [-UNO_HALF]}\nlibraries: [curand]\n");
    add_op("native", "sources: [native.cu, native.cpp]\n");
    Finding finding;
    finding.kind = RequirementKind::torch;
    finding.ok = true;
    finding.usage.python_module = true;
    finding.usage.std = 20;
    finding.usage.include_dirs = {"/torch/include"};
    finding.usage.fallback_include_dirs = {"/nvidia/include"};
    finding.usage.base_cxx_flags = {"-DNAME=ext"};
    finding.usage.base_nvcc_flags = {"-DNO_HALF", "-DNAME=ext"};
    finding.usage.link_flags = {"-L/torch/lib", "-lc10"};
    finding.usage.fallback_link_flags = {"-L/nvidia/lib"};
    finding.usage.library_files = {{"curand", "libcurand.so.10"}};
    requirements.by_op["ext"] = {finding};
    requirements.torch = Torch{};
    requirements.torch->version = "2.11.0+cu118";
    requirements.torch->home = "/torch";
    requirements.torch->python.tag = "cp311";
  }

  Edge edge(const std::string& op, EdgeKind kind) {
    for (const Edge& edge : build(plan("8.0").value()).edges)
      if (edge.op == op && edge.kind == kind) return edge;
    throw std::runtime_error("no such edge of " + op);
  }
};

bool depends_on(const Edge& edge, const std::string& file) {
  return std::count(edge.implicit_inputs.begin(), edge.implicit_inputs.end(), file) == 1;
}

}  // namespace

TEST_CASE("an extension's own flags stand behind torch's and may take them back; -std is torch's") {
  TorchPlan world;
  CHECK(world.edge("ext", EdgeKind::cuda_compile).flags ==
        Args{"-DNO_HALF", "-DNAME=ext", "-std=c++20", "-UNO_HALF", "-Xcompiler=-fPIC",
             "-Xcompiler=-fno-canonical-system-headers", "--objdir-as-tempdir", "-isystem", "/torch/include",
             "-isystem", "/nvidia/include"});
  CHECK(world.edge("ext", EdgeKind::cxx_compile).flags ==
        Args{"-DNAME=ext", "-std=c++20", "-O2", "-fPIC", "-fno-canonical-system-headers", "-isystem",
             "/torch/include", "-isystem", "/cuda/include", "-isystem", "/nvidia/include"});
}

TEST_CASE("an extension links the process's CUDA runtime and leaves Python's symbols to it") {
  TorchPlan world;
  CHECK(world.edge("ext", EdgeKind::link).flags ==
        Args{"-shared", "-Wl,--exclude-libs,libstdc++.a", "-Wl,--strip-all", "-l:libcurand.so.10",
             "-L/torch/lib", "-lc10", "-L/cuda/lib64", "-lcudart", "-L/nvidia/lib"});
}

TEST_CASE(
    "an extension's check knows the libraries of its link, Python and torch; that of another op does not") {
  TorchPlan world;
  world.requirements.torch->python.executable = "/venv/bin/python";
  const auto expected_of = [&](const std::string& op) {
    const std::vector<ExpectedOp> all = world.build(world.plan("8.0").value()).expected;
    return *std::ranges::find(all, op, &ExpectedOp::op);
  };
  CHECK(expected_of("ext").module == ModuleLink{{":libcurand.so.10", "c10", "cudart"},
                                                {"/torch/lib", "/cuda/lib64", "/nvidia/lib"},
                                                "/venv/bin/python",
                                                "torch 2.11.0+cu118 cp311 /torch"});
  CHECK_FALSE(expected_of("native").module);
  UsageRequirements& usage = world.requirements.by_op["ext"].front().usage;
  usage.link_flags = {"-L", "/a", "-l", "b", "/c/libd.so", "e/libf.so.1", "/g/libh.a", "-Wl,-rpath,/i"};
  CHECK(expected_of("ext").module->folders == Args{"/a", "/c", "e", "/cuda/lib64", "/nvidia/lib"});
  CHECK(expected_of("ext").module->libraries == Args{":libcurand.so.10", "b", "cudart"});
  usage.link_flags.emplace_back("-Wl,--unresolved-symbols=ignore-all");
  CHECK_FALSE(expected_of("ext").module);
}

TEST_CASE("another torch in the same place builds its extensions anew, and nothing else") {
  TorchPlan world;
  for (const EdgeKind kind : {EdgeKind::cuda_compile, EdgeKind::cxx_compile, EdgeKind::link}) {
    CHECK(depends_on(world.edge("ext", kind), "tools/torch.id"));
    CHECK_FALSE(depends_on(world.edge("native", kind), "tools/torch.id"));
  }
  const auto files = world.build(world.plan("8.0").value()).files;
  CHECK(std::count(files.begin(), files.end(),
                   PlannedFile{"tools/torch.id", "torch 2.11.0+cu118 cp311 /torch\n"}) == 1);
}

TEST_CASE("an op beside an extension has the commands that it has without one") {
  TorchPlan with;
  PlanWorld without;
  without.add_op("native", "sources: [native.cu, native.cpp]\n");
  const BuildPlan alone = without.build(without.plan("8.0").value());
  for (const Edge& edge : alone.edges)
    if (edge.kind != EdgeKind::verify) CHECK(with.edge("native", edge.kind) == edge);
}

TEST_CASE("what a finding warns of is said once, and only of ops that are built") {
  PlanWorld world;
  Finding finding;
  finding.ok = true;
  finding.warning = warning("cuda_mismatch", "DS_SKIP_CUDA_CHECK", "what", "fix");
  for (const char* name : {"a", "b", "c"}) {
    world.add_cuda_op(name, "", *name == 'c' ? Wanted::off : Wanted::by_all);
    world.requirements.by_op[name] = {finding};
  }
  CHECK(world.plan("8.0")->warnings == std::vector<Warning>{*finding.warning});
  world.selected.ops[0].wanted = world.selected.ops[1].wanted = Wanted::off;
  world.add_cuda_op("d");
  CHECK(world.plan("8.0")->warnings.empty());
}

TEST_CASE("an op is marked where a host source is compiled for the CPU level") {
  PlanWorld world;
  world.add_op("level", "sources: [level.cpp]\nbackend: cpu\nflags: {cxx: [-march=baseline]}\n");
  world.add_op("plain", "sources: [plain.cpp]\nbackend: cpu\n");
  world.add_op("source", "sources: [source.cu, {path: source.cpp, flags: {cxx: [-march=baseline]}}]\n");
  world.add_op("unmet",
               "sources: [unmet.cpp]\nbackend: cpu\n"
               "flags: {cxx: [{value: -march=baseline, when: {cpu: aarch64}}]}\n");
  world.requirements.cpu_level.flags = {"-mavx2", "-mfma"};
  const ArchPlan plan = world.plan("8.0").value();
  CHECK(plan.find("level")->uses_cpu_level);
  CHECK_FALSE(plan.find("plain")->uses_cpu_level);
  CHECK(plan.find("source")->uses_cpu_level);
  CHECK_FALSE(plan.find("unmet")->uses_cpu_level);
  CHECK(world.build(plan).edges.front().flags ==
        Args{"-std=c++17", "-mavx2", "-mfma", "-fPIC", "-fno-canonical-system-headers"});
}

TEST_CASE("commands name the folders of toolkits and packages by their roots") {
  PlanWorld world;
  world.roots = true;
  world.add_cuda_op("adam", "requires: [{tvm_ffi: \">=0.1\"}]\n");
  Finding finding;
  finding.ok = true;
  finding.usage.include_dirs = {"/venv/site-packages/tvm_ffi/include"};
  finding.usage.link_flags = {"-L/venv/site-packages/tvm_ffi/lib", "-ltvm_ffi"};
  finding.usage.roots = {{"tvm_ffi", "/venv/site-packages/tvm_ffi"}};
  world.requirements.by_op["adam"] = {finding};
  const auto archs = world.plan("8.0");
  REQUIRE(archs);
  const BuildPlan plan = world.build(*archs);
  const auto has = [](const Args& words, const std::string& word) {
    return std::ranges::count(words, word) == 1;
  };
  CHECK(plan.tools.of(k_nvcc_tool).front() == "roots/cuda/bin/nvcc");
  CHECK(has(find_edge(plan, "obj/adam/adam.cu/adam.o")->flags, "roots/tvm_ffi/include"));
  const Args link = find_edge(plan, "lib/adam.so")->flags;
  CHECK(has(link, "-Lroots/tvm_ffi/lib"));
  CHECK(has(link, "-Lroots/cuda_lib"));
  CHECK(plan.links ==
        std::vector<std::pair<std::string, Path>>{{"roots/cuda", "/cuda"},
                                                  {"roots/cuda_lib", "/cuda/lib64"},
                                                  {"roots/tvm_ffi", "/venv/site-packages/tvm_ffi"},
                                                  {"pack", "/pack"}});
}
