#include "plan/precompiled_header.h"

#include <catch2/catch.hpp>

#include "plan_world.h"

using namespace dsbuild;

namespace {

Edge compile(const std::string& op, const std::string& source, const std::vector<std::string>& flags) {
  Edge edge;
  edge.kind = EdgeKind::cxx_compile;
  edge.op = op;
  edge.source = source;
  edge.flags = flags;
  edge.inputs = {"pack/" + source};
  edge.implicit_inputs = {"tools/cxx.id"};
  edge.output = "obj/" + source + ".o";
  return edge;
}

// `count` sources of one op each that include the header, and one that does not.
struct TorchWorld : PlanWorld {
  std::set<std::string> torch_sources;
  int jobs = 2;

  BuildPlan plan_with(std::vector<Edge> edges) {
    BuildPlan build;
    build.edges = std::move(edges);
    const ArchPlan archs;
    precompile_torch_header({settings,
                             registry,
                             requirements,
                             archs,
                             &toolkit,
                             &cxx,
                             "x86_64",
                             {},
                             "/usr/bin/dsbuild",
                             {{}, {}, {}, torch_sources, {}, {}},
                             jobs},
                            build);
    return build;
  }
  BuildPlan plan_files(int count) {
    std::vector<Edge> edges = {compile("plain", "plain.cpp", {"-O3"})};
    for (int i = 0; i < count; ++i) {
      const std::string name = "op" + std::to_string(i);
      torch_sources.insert("pack/" + name + ".cpp");
      edges.push_back(compile(name, name + ".cpp",
                              {"-O3", "-DTORCH_EXTENSION_NAME=" + name, "-DMINE", "-Ipack/" + name}));
    }
    return plan_with(edges);
  }
};

size_t precompiles(const BuildPlan& plan) {
  return static_cast<size_t>(std::count_if(plan.edges.begin(), plan.edges.end(),
                                           [](const Edge& e) { return e.op == "torch/extension.h"; }));
}

}  // namespace

TEST_CASE("a source has the include or not, however it is spaced") {
  CHECK(includes_torch_header("// x\n#include <torch/extension.h>\n"));
  CHECK(includes_torch_header("  #  include\t<torch/extension.h>  // bindings\n"));
  CHECK_FALSE(includes_torch_header("// #include <torch/extension.h>\n#include <torch/types.h>\n"));
  CHECK_FALSE(includes_torch_header("#include \"torch/extension.h.txt\"\n"));
}

TEST_CASE("one header for all files with the same flags, whatever their own macros and folders are") {
  TorchWorld world;
  world.settings.precompile.value = Precompile::on;
  const BuildPlan plan = world.plan_files(3);
  REQUIRE(precompiles(plan) == 1);
  const Edge& header = plan.edges.front();
  CHECK(header.flags == std::vector<std::string>{"-O3", "-x", "c++-header"});
  CHECK(header.implicit_inputs == std::vector<std::string>{"tools/cxx.id"});
  for (const Edge& edge : plan.edges) {
    const bool uses = std::find(edge.implicit_inputs.begin(), edge.implicit_inputs.end(), header.output) !=
                      edge.implicit_inputs.end();
    CHECK(uses == (edge.op.rfind("op", 0) == 0));
    CHECK(is_for_op(plan, header, edge.op) == (uses || &edge == &header));
  }
}

TEST_CASE("other flags, another header") {
  TorchWorld world;
  world.settings.precompile.value = Precompile::on;
  world.torch_sources = {"pack/a.cpp", "pack/b.cpp", "pack/c.cpp"};
  CHECK(precompiles(world.plan_with({compile("a", "a.cpp", {"-O3"}), compile("b", "b.cpp", {"-O3", "-mavx2"}),
                                     compile("c", "c.cpp", {"-O3", "-D_GLIBCXX_USE_CXX11_ABI=0"})})) == 3);
}

TEST_CASE("a CUDA op's files see its own toolkit's runtime ahead of what torch's headers bring") {
  TorchWorld world;
  world.torch_sources = {"pack/a.cpp", "pack/b.cpp"};
  Edge of_cuda_op = compile("a", "a.cpp", {"-O3"});
  of_cuda_op.by_host_compiler = true;
  std::multiset<std::string> texts;
  for (const PlannedFile& file : world.plan_with({of_cuda_op, compile("b", "b.cpp", {"-O3"})}).files)
    texts.insert(file.content);
  CHECK(texts == std::multiset<std::string>{"#include <cuda_runtime_api.h>\n#include <torch/extension.h>\n",
                                            "#include <torch/extension.h>\n"});
}

TEST_CASE("commands are the same with and without it, so that choosing anew compiles nothing") {
  TorchWorld world;
  world.settings.precompile.value = Precompile::on;
  const BuildPlan with = world.plan_files(2);
  world.settings.precompile.value = Precompile::off;
  const BuildPlan without = world.plan_files(2);
  REQUIRE(with.edges.size() == without.edges.size() + 1);
  for (size_t i = 0; i < without.edges.size(); ++i)
    CHECK(with.edges[i + 1].flags == without.edges[i].flags);
  CHECK(with.files == without.files);
}

TEST_CASE("by itself only where it is faster: enough files, and cores that are busy all the while") {
  TorchWorld world;
  CHECK(precompiles(world.plan_files(3)) == 0);
  CHECK(precompiles(world.plan_files(6)) == 1);
  world.jobs = 16;
  CHECK(precompiles(world.plan_files(6)) == 0);
  CHECK(precompiles(world.plan_files(60)) == 1);
}

TEST_CASE("clang is given the header as it is") {
  TorchWorld world;
  world.settings.precompile.value = Precompile::on;
  world.cxx.family = "clang";
  CHECK(precompiles(world.plan_files(3)) == 0);
}

TEST_CASE("beside a precompiled header stands who uses it, and for how many of them it pays") {
  TorchWorld world;
  world.settings.precompile.value = Precompile::on;
  BuildPlan plan = world.plan_files(3);
  const auto users_of = [&](Precompile setting) {
    plan.files.clear();
    name_users_of_precompiled_headers(setting, plan);
    REQUIRE(plan.files.size() == 1);
    return split_lines(plan.files.front().content);
  };
  const std::vector<std::string> lines = users_of(Precompile::on);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "1");
  CHECK(lines[1].find(" -c pack/op0.cpp ") != std::string::npos);
  CHECK(plan.files.front().path == plan.edges.front().output + ".users");
  // 39 s once, 13 s saved for each.
  CHECK(users_of(Precompile::automatic).front() == "4");
}
