#include "plan/edge_order.h"

#include <algorithm>
#include <functional>

#include "plan/build_plan.h"

namespace dsbuild {
namespace {

double targets_of(const Edge& edge) {
  return static_cast<double>(std::max<size_t>(edge.targets.size(), 1));
}

// Headers are most of a small source's work; beyond them its own length counts.
double guessed_seconds_per_target(const EdgeTimes& times, const std::string& source) {
  constexpr double k_of_headers = 1, k_of_torch_header = 20;
  constexpr double k_bytes_per_second = 3'000;
  const auto bytes = times.source_bytes.find(source);
  const double own =
      bytes == times.source_bytes.end() ? 0 : static_cast<double>(bytes->second) / k_bytes_per_second;
  return own + (times.torch_sources.count(source) > 0 ? k_of_torch_header : k_of_headers);
}

}  // namespace

std::string time_key(const std::string& pack, const std::string& op, const std::string& source) {
  return pack + "/" + op + "/" + source;
}

double seconds_per_target(const Edge& edge, double seconds) {
  return seconds / targets_of(edge);
}

double expected_seconds(const EdgeTimes& times, const std::string& pack, const Edge& edge) {
  const auto measured = times.seconds.find(time_key(pack, edge.op, edge.source));
  if (measured != times.seconds.end()) return measured->second * targets_of(edge);
  return guessed_seconds_per_target(times, edge.inputs.front()) * targets_of(edge);
}

void put_longest_first(std::vector<Edge>& edges, const EdgeTimes& times, const std::string& pack) {
  const auto others = std::stable_partition(edges.begin(), edges.end(), std::mem_fn(&Edge::is_compile));
  std::stable_sort(edges.begin(), others, [&](const Edge& a, const Edge& b) {
    return expected_seconds(times, pack, a) > expected_seconds(times, pack, b);
  });
}

int threads_per_nvcc(const std::vector<Edge>& edges, int jobs) {
  size_t nvccs = 0, most_targets = 1;
  for (const Edge& edge : edges) {
    if (edge.kind != EdgeKind::cuda_compile) continue;
    ++nvccs;
    most_targets = std::max(most_targets, edge.targets.size());
  }
  const size_t share = static_cast<size_t>(std::max(jobs, 1)) / std::max<size_t>(nvccs, 1);
  return static_cast<int>(std::clamp<size_t>(share, 1, most_targets));
}

}  // namespace dsbuild
