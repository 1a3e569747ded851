#include "plan/edge_order.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>

#include "plan/build_plan.h"

namespace dsbuild {
namespace {

double targets_of(const Edge& edge) {
  if (edge.kind == EdgeKind::cuda_slice) return 1;
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

// What an edge takes and, behind it, the longest chain of compile edges that wait for it. Edges by their
// place.
class Chains {
 public:
  Chains(const std::vector<Edge>& compiles, const EdgeTimes& times, const std::string& pack)
      : waiting_(compiles.size()), chains_(compiles.size()) {
    std::unordered_map<std::string_view, size_t> makers;
    for (size_t i = 0; i < compiles.size(); ++i) {
      own_.push_back(expected_seconds(times, pack, compiles[i]));
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

std::string time_key(const std::string& pack, const std::string& op, const std::string& source,
                     const std::string& part) {
  return pack + "/" + op + "/" + source + (part.empty() ? "" : "@" + part);
}

double seconds_per_target(const Edge& edge, double seconds) {
  return seconds / targets_of(edge);
}

double expected_seconds(const EdgeTimes& times, const std::string& pack, const Edge& edge) {
  const auto measured = [&](const std::string& part) {
    const auto found = times.seconds.find(time_key(pack, edge.op, edge.source, part));
    return found == times.seconds.end() ? std::nullopt : std::optional(found->second);
  };
  if (const auto seconds = measured(edge.part)) return *seconds * targets_of(edge);
  if (!edge.reads_source()) return 0;  // it has to wait for others anyway
  constexpr double k_of_precompiled_header = 40;
  if (edge.source.empty()) return k_of_precompiled_header;
  // A whole compile's time for one target is mostly that target's slice.
  const double of_target = measured("").value_or(guessed_seconds_per_target(times, edge.inputs.front()));
  constexpr double k_share_of_front = 0.3;
  return of_target * (edge.part == "front" ? k_share_of_front : targets_of(edge));
}

void put_longest_first(std::vector<Edge>& edges, const EdgeTimes& times, const std::string& pack) {
  const auto others = std::stable_partition(edges.begin(), edges.end(), std::mem_fn(&Edge::is_compile));
  std::vector<Edge> compiles(std::make_move_iterator(edges.begin()), std::make_move_iterator(others));
  std::vector<std::pair<double, Edge*>> order;  // each chain is summed once
  Chains chains(compiles, times, pack);
  for (size_t i = 0; i < compiles.size(); ++i)
    order.emplace_back(chains.seconds(i), &compiles[i]);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::transform(order.begin(), order.end(), edges.begin(),
                 [](const auto& longest) { return std::move(*longest.second); });
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
