#include "plan/shard_cut.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

using namespace dsbuild;

namespace {

using Texts = std::vector<std::string>;

Edge edge(EdgeKind kind, const std::string& part, const Texts& inputs, const std::string& output) {
  Edge edge;
  edge.kind = kind;
  edge.op = "op";
  edge.source = "a.cu";
  edge.part = part;
  edge.inputs = inputs;
  edge.output = output;
  return edge;
}

// As slice_cuda_edges makes it for 8.0 and 9.0, with the library.
BuildPlan sliced_file() {
  BuildPlan plan;
  plan.edges = {edge(EdgeKind::cuda_slice, "front", {"pack/a.cu"}, "a.front"),
                edge(EdgeKind::cuda_slice, "compute_80", {"pack/a.cu"}, "a.80"),
                edge(EdgeKind::cuda_slice, "compute_90", {"pack/a.cu"}, "a.90"),
                edge(EdgeKind::cuda_slice, "host", {"a.front", "a.stub"}, "a.host.o"),
                edge(EdgeKind::cuda_slice, "fatbin", {"a.80", "a.90"}, "a.o"),
                edge(EdgeKind::link, "", {"a.o", "a.host.o"}, "a.so"),
                edge(EdgeKind::verify, "", {"a.so"}, "a.checked")};
  plan.edges[2].more_outputs = {"a.stub"};
  plan.edges[5].source = plan.edges[6].source = "";
  return plan;
}

int64_t one_second(const Edge&) {
  return 1000;
}

std::vector<Texts> outputs(const std::vector<Shard>& shards) {
  std::vector<Texts> all;
  for (const Shard& shard : shards)
    all.push_back(shard.outputs);
  return all;
}

// So many C++ files and their costs.
struct Files {
  BuildPlan plan;
  std::map<std::string, int64_t> costs;

  Files(size_t number, std::mt19937& random) {
    for (size_t i = 0; i < number; ++i) {
      const std::string name = "f" + std::to_string(i);
      plan.edges.push_back(edge(EdgeKind::cxx_compile, "", {"pack/" + name}, name + ".o"));
      costs[name + ".o"] = std::uniform_int_distribution<int64_t>(0, 9)(random);
    }
  }
  std::vector<Shard> cut(size_t number) const {
    return cut_into_shards(plan, [&](const Edge& edge) { return costs.at(edge.output); }, number);
  }
};

}  // namespace

TEST_CASE("host code stays with what it reads; other slices go elsewhere; what joins is nobody's share") {
  const auto shards = cut_into_shards(sliced_file(), one_second, 2);
  CHECK(outputs(shards) == std::vector<Texts>{{"a.90", "a.front", "a.host.o"}, {"a.80"}});
  CHECK(shards[0].milliseconds == 3000);
}

TEST_CASE("files that may be the same stay on one machine") {
  BuildPlan plan;
  for (const char* name : {"a", "b", "c"})
    plan.edges.push_back(edge(EdgeKind::cxx_compile, "", {"pack/a.cpp"}, std::string(name) + ".o"));
  plan.edges[2].after = "a.o";
  CHECK(outputs(cut_into_shards(plan, one_second, 2)) == std::vector<Texts>{{"a.o", "c.o"}, {"b.o"}});
}

TEST_CASE("a header that is precompiled binds nobody, and is made where it is read") {
  BuildPlan plan;
  Edge header = edge(EdgeKind::cxx_compile, "", {}, "pch.gch");
  header.source = "";
  plan.edges = {header, edge(EdgeKind::cxx_compile, "", {"pack/a.cpp"}, "a.o"),
                edge(EdgeKind::cxx_compile, "", {"pack/b.cpp"}, "b.o")};
  plan.edges[1].implicit_inputs = plan.edges[2].implicit_inputs = {"pch.gch"};
  CHECK(outputs(cut_into_shards(plan, one_second, 2)) == std::vector<Texts>{{"a.o"}, {"b.o"}});
  CHECK(part_of_graph(plan, {"b.o"}).edges.front().output == "pch.gch");
}

TEST_CASE("a shard's graph has what its edges read, and goes no further") {
  const BuildPlan part = part_of_graph(sliced_file(), {"a.host.o", "gone.o"});
  Texts made;
  for (const Edge& edge : part.edges)
    made.push_back(edge.output);
  CHECK(made == Texts{"a.front", "a.90", "a.host.o"});
  CHECK(part.goals == Texts{"a.host.o"});
}

TEST_CASE("there may be more shards than work") {
  const auto shards = cut_into_shards(sliced_file(), one_second, 5);
  CHECK(shards.size() == 5);
  CHECK(shards[4] == Shard{});
  CHECK(part_of_graph(sliced_file(), shards[4].outputs).edges.empty());
}

TEST_CASE("any cut: each edge once, whatever the order of the graph, and no shard is much larger") {
  std::mt19937 random(44);
  for (int i = 0; i < 200; ++i) {
    Files files(std::uniform_int_distribution<size_t>(0, 30)(random), random);
    const size_t number = std::uniform_int_distribution<size_t>(1, 9)(random);
    const auto shards = files.cut(number);
    std::map<std::string, int> seen;
    int64_t sum = 0, most = 0, longest = 0;
    for (const Shard& shard : shards) {
      for (const std::string& output : shard.outputs)
        ++seen[output];
      sum += shard.milliseconds;
      most = std::max(most, shard.milliseconds);
    }
    CHECK(seen.size() == files.costs.size());
    for (const auto& [output, cost] : files.costs) {
      CHECK(seen[output] == 1);
      longest = std::max(longest, cost);
    }
    const auto machines = static_cast<int64_t>(number);
    CHECK(most <= sum / machines + longest);
    std::shuffle(files.plan.edges.begin(), files.plan.edges.end(), random);
    CHECK(files.cut(number) == shards);
  }
}
