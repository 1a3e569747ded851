// The compile edges of a graph cut into shares for several machines. Pure: each machine that has the same
// graph and the same costs makes the same cut.
//
// A unit is what must stay on one machine: edges that read what others of them make (front, the slice with
// the stub, host), and edges that may be the same (Edge::after). Every other slice is a unit of its own, for
// it starts from the source. Edges that only join (fatbin, bundle, link) are no machine's share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/build_plan.h"

namespace dsbuild {

struct Shard {
  std::vector<std::string> outputs;  // of its compile edges, sorted
  int64_t milliseconds = 0;          // that they are expected to take
  bool operator==(const Shard&) const = default;
};

// Whether an edge is some shard's share.
bool is_shared_out(const Edge& edge);

// In milliseconds.
using StaticCost = std::function<int64_t(const Edge& edge)>;
// The longest unit first, each to the shard that has least; `number` of them, also empty ones.
std::vector<Shard> cut_into_shards(const BuildPlan& graph, const StaticCost& cost, size_t number);

// The graph of these edges and all that make what they read. An output that no edge has is passed over.
BuildPlan part_of_graph(BuildPlan graph, const std::vector<std::string>& outputs);

}  // namespace dsbuild
