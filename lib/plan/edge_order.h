// The order of the compile edges. Ninja starts what is ready in the order of its file, so the longest stand
// first and none is left to run alone at the end. Times decide this order and nothing else: no key, no
// manifest, no byte of an output.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dsbuild {

struct Edge;

struct EdgeTimes {
  // Seconds per target (a CPU edge: in all), by time_key(), as earlier runs on this machine took; before the
  // first run, what the spec says.
  std::map<std::string, double> seconds;
  // Size of a source, by the input that an edge names; what is guessed from where nothing was measured.
  std::map<std::string, unsigned long long> source_bytes;
  // Inputs of edges that include torch/extension.h, which most of such an edge's time goes into.
  std::set<std::string> torch_sources;
};

// What an edge (Edge::op, Edge::source) is remembered by: "native/fused_adam/fused_adam.cu". Its archs are
// left out, so that the time of other archs is a good guess too.
// `part`: Edge::part, each part of a source being remembered for itself; "" for a whole compile.
std::string time_key(const std::string& pack, const std::string& op, const std::string& source,
                     const std::string& part = {});
// What is remembered of an edge that took `seconds`: those of one target.
double seconds_per_target(const Edge& edge, double seconds);
double expected_seconds(const EdgeTimes& times, const std::string& pack, const Edge& edge);

// The compile edges, the longest first, with what waits for them (a header that is precompiled for others);
// behind them the others in their order.
void put_longest_first(std::vector<Edge>& edges, const EdgeTimes& times, const std::string& pack);

// How many of its archs each nvcc may compile at once so that `jobs` cores are busy although there are fewer
// CUDA edges.
int threads_per_nvcc(const std::vector<Edge>& edges, int jobs);

}  // namespace dsbuild
