#include "plan/edge_order.h"

#include <algorithm>
#include <functional>
#include <map>

#include "plan/build_plan.h"

namespace dsbuild {
namespace {

// What an edge takes and, behind it, the longest chain of compile edges that wait for it.
class Chains {
 public:
  Chains(const std::vector<Edge>& compiles, const EdgeHistory& history, const std::string& pack) {
    std::map<std::string, const Edge*> makers;
    for (const Edge& edge : compiles) {
      makers[edge.output] = &edge;
      for (const std::string& output : edge.more_outputs)
        makers[output] = &edge;
    }
    for (const Edge& edge : compiles) {
      own_[edge.output] = expected_seconds(history, pack, edge);
      for (const auto& inputs : {edge.inputs, edge.implicit_inputs})
        for (const std::string& input : inputs)
          if (const auto maker = makers.find(input); maker != makers.end())
            waiting_[maker->second->output].push_back(edge.output);
    }
  }

  double seconds(const std::string& output) {
    const auto [known, is_new] = chains_.try_emplace(output, own_.at(output));
    if (!is_new) return known->second;
    double longest = 0;
    for (const std::string& next : waiting_[output])
      longest = std::max(longest, seconds(next));
    return chains_[output] += longest;
  }

 private:
  std::map<std::string, double> own_, chains_;
  std::map<std::string, std::vector<std::string>> waiting_;
};

}  // namespace

void put_longest_first(std::vector<Edge>& edges, const EdgeHistory& history, const std::string& pack) {
  const auto others = std::stable_partition(edges.begin(), edges.end(), std::mem_fn(&Edge::is_compile));
  const std::vector<Edge> compiles(edges.begin(), others);
  Chains chains(compiles, history, pack);
  std::stable_sort(edges.begin(), others, [&](const Edge& a, const Edge& b) {
    return chains.seconds(a.output) > chains.seconds(b.output);
  });
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
