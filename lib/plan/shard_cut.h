// Divides the compile edges of a graph into shards for several machines. Pure: machines with equal graphs and
// costs get equal shards.
//
// A unit is a set of edges that must stay on one machine: edges that read outputs of each other (front, the
// slice with the stub, host), and edges that may have equal results (Edge::after). Each other slice is a unit
// of its own, because it starts from the source. Edges that only combine outputs (fatbin, bundle, link) are
// in no shard.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/build_plan.h"

namespace dsbuild {

struct Shard {
  std::vector<std::string> outputs;  // outputs of its compile edges, sorted
  int64_t milliseconds = 0;          // expected time of these edges
  bool operator==(const Shard&) const = default;
};

// Whether shards run this edge.
bool is_shared_out(const Edge& edge);

// In milliseconds.
using StaticCost = std::function<int64_t(const Edge& edge)>;
// Assigns units to `number` shards, the longest unit first, each to the shard with the least time. Shards may
// be empty.
std::vector<Shard> cut_into_shards(const BuildPlan& graph, const StaticCost& cost, size_t number);

// The graph of the edges with these outputs, and of all edges that make their inputs. Ignores outputs that no
// edge has.
BuildPlan part_of_graph(BuildPlan graph, const std::vector<std::string>& outputs);

}  // namespace dsbuild
