#include "plan/shard_cut.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

namespace dsbuild {
namespace {

// EdgeMakers of files, by their place among the edges.
class EdgeMakers {
 public:
  explicit EdgeMakers(const std::vector<Edge>& edges) {
    for (size_t i = 0; i < edges.size(); ++i) {
      makers_[edges[i].output] = i;
      for (const std::string& output : edges[i].more_outputs)
        makers_[output] = i;
    }
  }

  std::vector<size_t> needed_by(const Edge& edge) const {
    std::vector<size_t> needed;
    const auto add = [&](const std::string& file) {
      if (const auto maker = makers_.find(file); maker != makers_.end()) needed.push_back(maker->second);
    };
    for (const auto* files : {&edge.inputs, &edge.implicit_inputs})
      for (const std::string& file : *files)
        add(file);
    if (!edge.after.empty()) add(edge.after);
    return needed;
  }

 private:
  std::map<std::string_view, size_t> makers_;
};

// Disjoint sets of edges.
class EdgeSets {
 public:
  explicit EdgeSets(size_t edges) : parents_(edges) {
    std::iota(parents_.begin(), parents_.end(), size_t{0});
  }

  size_t of(size_t edge) {
    while (parents_[edge] != edge)
      edge = parents_[edge] = parents_[parents_[edge]];
    return edge;
  }
  void join(size_t a, size_t b) { parents_[of(a)] = of(b); }

 private:
  std::vector<size_t> parents_;
};

std::vector<Shard> units_of(const BuildPlan& graph, const StaticCost& cost) {
  const std::vector<Edge>& edges = graph.edges;
  const EdgeMakers makers(edges);
  EdgeSets sets(edges.size());
  for (size_t i = 0; i < edges.size(); ++i)
    for (const size_t maker : makers.needed_by(edges[i]))
      if (is_shared_out(edges[i]) && is_shared_out(edges[maker])) sets.join(i, maker);
  std::map<size_t, Shard> units;
  for (size_t i = 0; i < edges.size(); ++i) {
    if (!is_shared_out(edges[i])) continue;
    Shard& unit = units[sets.of(i)];
    unit.outputs.push_back(edges[i].output);
    unit.milliseconds += cost(edges[i]);
  }
  std::vector<Shard> all;
  for (auto& [set, unit] : units) {
    std::ranges::sort(unit.outputs);
    all.push_back(std::move(unit));
  }
  return all;
}

}  // namespace

bool is_shared_out(const Edge& edge) {
  return edge.is_compile() && !edge.source.empty() && edge.part != "fatbin";
}

std::vector<Shard> cut_into_shards(const BuildPlan& graph, const StaticCost& cost, size_t number) {
  std::vector<Shard> units = units_of(graph, cost);
  // The order of edges is that of this machine's history, so it may not count.
  std::ranges::sort(units, [](const Shard& a, const Shard& b) {
    return a.milliseconds != b.milliseconds ? a.milliseconds > b.milliseconds : a.outputs < b.outputs;
  });
  std::vector<Shard> shards(number);
  for (const Shard& unit : units) {
    Shard& least = *std::ranges::min_element(shards, {}, &Shard::milliseconds);
    least.outputs.insert(least.outputs.end(), unit.outputs.begin(), unit.outputs.end());
    least.milliseconds += unit.milliseconds;
  }
  for (Shard& shard : shards)
    std::ranges::sort(shard.outputs);
  return shards;
}

BuildPlan part_of_graph(BuildPlan graph, const std::vector<std::string>& outputs) {
  const EdgeMakers makers(graph.edges);
  const std::set<std::string> wanted(outputs.begin(), outputs.end());
  std::vector<size_t> open;
  for (size_t i = 0; i < graph.edges.size(); ++i)
    if (wanted.contains(graph.edges[i].output)) open.push_back(i);
  std::set<size_t> kept;
  graph.goals.clear();
  for (const size_t edge : open)
    graph.goals.push_back(graph.edges[edge].output);
  while (!open.empty()) {
    const size_t edge = open.back();
    open.pop_back();
    if (!kept.insert(edge).second) continue;
    const std::vector<size_t> needed = makers.needed_by(graph.edges[edge]);
    open.insert(open.end(), needed.begin(), needed.end());
  }
  std::vector<Edge> edges;
  for (const size_t edge : kept)
    edges.push_back(std::move(graph.edges[edge]));
  graph.edges = std::move(edges);
  graph.expected.clear();
  return graph;
}

}  // namespace dsbuild
