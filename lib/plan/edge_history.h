// What the edges of earlier builds on this machine took, and what is expected of the next build's. This
// decides the order of edges and how many of them run at once, and nothing else: no key, no manifest, no byte
// of an output.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sys/memory_gate.h"

namespace dsbuild {

struct Edge;

// Of one edge; 0: not known.
struct EdgeCost {
  double seconds = 0;          // remembered: of one target (a CPU edge's: in all); expected: of the edge
  ByteCount peak_bytes = 0;    // memory of the largest tool after the preprocessor
  ByteCount look_bytes = 0;    // memory of the preprocessor, where a step looks first whether there is work
  ByteCount output_bytes = 0;  // what it writes
  bool operator==(const EdgeCost&) const = default;
};

struct EdgeHistory {
  std::map<std::string, EdgeCost> measured;  // by history_key()
  // Seconds of one target, as specs say them, by the key of the whole compile.
  std::map<std::string, double> specified;
  // Size of a source, by the input that an edge names; what is guessed from where nothing else is known.
  std::map<std::string, ByteCount> source_bytes;
  // Inputs of edges whose own text includes torch/extension.h: what is precompiled goes by that alone.
  std::set<std::string> torch_sources;
  // Those that read any of torch's headers, be it through others: most of such an edge's time goes into them,
  // and several times the memory of others.
  std::set<std::string> torch_readers;
  // Of these, those that include torch's stable C interface alone: they have the memory of these, and the
  // time of others.
  std::set<std::string> interface_readers;
};

// The input of edges that have the source, by its id: "pack/a.cu" of "a.cu,KEY=VALUE".
std::string input_of(const std::string& source);

// The key of an edge's history: "native/fused_adam/fused_adam.cu", "native/fused_adam/@link". Its archs are
// left out, so that the time of other archs is a good guess too. `part`: Edge::part, for each part of a
// source has its own history; "" for a whole compile.
std::string history_key(const std::string& pack, const std::string& op, const std::string& source,
                        const std::string& part = {});
std::string history_key(const std::string& pack, const Edge& edge);

// The share of one target in the `seconds` that an edge took. This is remembered.
double seconds_per_target(const Edge& edge, double seconds);
// For the order of edges: 0 for an edge that was never measured and waits for others.
double expected_seconds(const EdgeHistory& history, const std::string& pack, const Edge& edge);

// Measured; of a slice, else what the source's other slices took: the time of the longest, the memory of the
// largest; else guessed, the memory from what the same parts of the op's other sources took and from `text`,
// where the edge's has been seen. Memory that was not measured is a bound and no mean: no peak is 0.
EdgeCost expected_cost(const EdgeHistory& history, const std::string& pack, const Edge& edge,
                       const SeenText& text = {});
bool is_measured(const EdgeHistory& history, const std::string& pack, const Edge& edge);

}  // namespace dsbuild
