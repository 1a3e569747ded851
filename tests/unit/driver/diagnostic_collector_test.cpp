#include "driver/diagnostic_collector.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

namespace {

const char* const k_error =
    "pack/a.cu(5): error: no\n    x;\n    ^\n\n1 error detected in the compilation of \"a.cu\".\n";
const char* const k_warning = "pack/h.h(1): warning #1-D: old\n    y;\n    ^\n";

// The slices of two sources for 8.0 and 9.0.
struct World {
  BuildPlan plan;
  std::vector<std::string> told;
  FakeFileSystem files;
  DiagnosticCollector collector{
      OwnPaths({{"pack", "/src"}}, "/build", files), [this](const ToolDiagnostic& one) {
        told.push_back(one.diagnostic.text + (one.archs.empty() ? "" : arch_text(one.archs)));
      }};

  World() {
    for (const char* source : {"a.cu", "b.cu"}) {
      for (const char* arch : {"8.0", "9.0"}) {
        Edge edge;
        edge.kind = EdgeKind::cuda_slice;
        edge.op = "op";
        edge.source = source;
        edge.part = std::string("compute_") + arch;
        edge.output = std::string(source) + arch;
        edge.targets = {*parse_target(arch)};
        plan.edges.push_back(edge);
      }
    }
    std::map<std::string, std::string> due;
    for (const Edge& edge : plan.edges)
      due[edge.output] = "";
    collector.on_graph_begins(plan, due);
  }

  void start(size_t edge) {
    collector.on_edge({EdgeEventKind::started, &plan.edges[edge], 0, 0, 4, "", "", ""});
  }
  void end(size_t edge, const std::string& output, EdgeEventKind kind = EdgeEventKind::finished) {
    collector.on_edge({kind, &plan.edges[edge], 1, 0, 4, output, "", ""});
  }
};

}  // namespace

TEST_CASE(
    "what all slices of a source say is told once, with the user's own path, when the last has said it") {
  World world;
  world.start(0);
  world.start(1);
  world.end(0, k_error, EdgeEventKind::failed);
  CHECK(world.told.empty());
  world.end(1, k_error, EdgeEventKind::failed);
  CHECK(world.told == std::vector<std::string>{"/src/a.cu(5): error: no\n    x;\n    ^\n"});
}

TEST_CASE("what only some archs say names them") {
  World world;
  world.start(0);
  world.end(0, "");
  world.start(1);
  world.end(1, k_warning);
  CHECK(world.told == std::vector<std::string>{"/src/h.h(1): warning #1-D: old\n    y;\n    ^\n9.0"});
}

TEST_CASE("what a header says is told with the first source that reads it") {
  World world;
  for (size_t edge = 0; edge < 4; ++edge) {
    world.start(edge);
    world.end(edge, k_warning);
  }
  CHECK(world.told.size() == 1);
}

TEST_CASE("what has not been told when the graph ends is told then") {
  World world;
  world.start(0);
  world.end(0, k_warning);
  CHECK(world.told.empty());
  world.collector.on_graph_ends();
  CHECK(world.told.size() == 1);
}

TEST_CASE("names of sources are the user's wherever a name may begin, and nowhere else") {
  FakeFileSystem files;
  const OwnPaths paths({{"pack", "/src"}}, "/build", files);
  CHECK(paths.text("In file included from pack/a.h:1,\n") == "In file included from /src/a.h:1,\n");
  CHECK(paths.text("\"pack/a.h\" mypack/a.h x/pack/b (pack/c") == "\"/src/a.h\" mypack/a.h x/pack/b (/src/c");
  CHECK(paths.path("obj/a.o") == "/build/obj/a.o");
  const std::string here = files.absolute(".").string();
  CHECK(OwnPaths({{"pack", here}}, "/build", files).text("pack/a/b.h:1: error") == "a/b.h:1: error");
  CHECK(OwnPaths({{"pack", here + "/a"}}, "/build", files).text("pack/b.h:1: error") == "a/b.h:1: error");
  CHECK(paths.path("").empty());
}
