#include "plan/edge_order.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "plan/build_plan.h"

namespace dsbuild {
namespace {

// What an edge takes and, behind it, the longest chain of compile edges that wait for it. Edges by their
// place.
class Chains {
 public:
  Chains(const std::vector<Edge>& compiles, const EdgeHistory& history, const std::string& pack)
      : waiting_(compiles.size()), chains_(compiles.size()) {
    std::unordered_map<std::string_view, size_t> makers;
    for (size_t i = 0; i < compiles.size(); ++i) {
      own_.push_back(expected_seconds(history, pack, compiles[i]));
      makers[compiles[i].output] = i;
      for (const std::string& output : compiles[i].more_outputs)
        makers[output] = i;
    }
    for (size_t i = 0; i < compiles.size(); ++i)
      for (const auto* inputs : {&compiles[i].inputs, &compiles[i].implicit_inputs})
        for (const std::string& input : *inputs)
          if (const auto maker = makers.find(input); maker != makers.end())
            waiting_[maker->second].push_back(i);
  }

  double seconds(size_t edge) {
    if (chains_[edge]) return *chains_[edge];
    chains_[edge] = own_[edge];  // where two wait for each other, which Ninja refuses
    double longest = 0;
    for (const size_t next : waiting_[edge])
      longest = std::max(longest, seconds(next));
    return *chains_[edge] += longest;
  }

 private:
  std::vector<double> own_;
  std::vector<std::vector<size_t>> waiting_;
  std::vector<std::optional<double>> chains_;
};

}  // namespace

void put_longest_first(std::vector<Edge>& edges, const EdgeHistory& history, const std::string& pack) {
  const auto is_first = [](const Edge& edge) { return edge.is_compile() || edge.kind == EdgeKind::hipify; };
  const auto others = std::stable_partition(edges.begin(), edges.end(), is_first);
  std::vector<Edge> compiles(std::make_move_iterator(edges.begin()), std::make_move_iterator(others));
  std::vector<std::pair<double, Edge*>> order;  // each chain is summed once
  Chains chains(compiles, history, pack);
  for (size_t i = 0; i < compiles.size(); ++i)
    order.emplace_back(chains.seconds(i), &compiles[i]);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::transform(order.begin(), order.end(), edges.begin(),
                 [](const auto& longest) { return std::move(*longest.second); });
}

std::vector<const Edge*> edges_by_output(const std::vector<Edge>& edges) {
  std::vector<const Edge*> order;
  for (const Edge& edge : edges)
    order.push_back(&edge);
  std::ranges::sort(order, [](const Edge* a, const Edge* b) { return a->output < b->output; });
  return order;
}

int threads_per_nvcc(const std::vector<Edge>& edges, int jobs) {
  size_t nvccs = 0, most_targets = 1;
  for (const Edge& edge : edges) {
    if (edge.kind != EdgeKind::cuda_compile && edge.kind != EdgeKind::cuda_slice) continue;
    ++nvccs;
    most_targets = std::max(most_targets, edge.targets.size());
  }
  const size_t share = static_cast<size_t>(std::max(jobs, 1)) / std::max<size_t>(nvccs, 1);
  return static_cast<int>(std::clamp<size_t>(share, 1, most_targets));
}

}  // namespace dsbuild
