#include "plan/edge_order.h"

#include <algorithm>
#include <functional>

#include "plan/build_plan.h"

namespace dsbuild {

void put_longest_first(std::vector<Edge>& edges, const EdgeHistory& history, const std::string& pack) {
  const auto others = std::stable_partition(edges.begin(), edges.end(), std::mem_fn(&Edge::is_compile));
  std::stable_sort(edges.begin(), others, [&](const Edge& a, const Edge& b) {
    return expected_seconds(history, pack, a) > expected_seconds(history, pack, b);
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
