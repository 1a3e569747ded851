// The time and memory of edges in earlier builds on this machine, and the estimates for the next build. They
// decide only the order of edges and how many run at once: no key, manifest or output depends on them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "sys/memory_gate.h"

namespace dsbuild {

struct Edge;

// The cost of one edge; 0: unknown.
struct EdgeCost {
  double seconds = 0;        // stored: of one target (for a CPU edge, in all); expected: of the edge
  ByteCount peak_bytes = 0;  // memory of the largest tool after the preprocessor
  // Memory of the preprocessor, which some steps run to find out whether there is work.
  ByteCount look_bytes = 0;
  ByteCount output_bytes = 0;  // size of its outputs
  bool operator==(const EdgeCost&) const = default;
};

struct EdgeHistory {
  std::map<std::string, EdgeCost> measured;  // by history_key()
  // Seconds of one target according to specs, by the key of the whole compile.
  std::map<std::string, double> specified;
  // Size of a source, by the input that an edge names. Estimates use it if nothing else is known.
  std::map<std::string, ByteCount> source_bytes;
  // Inputs whose own text includes torch/extension.h. They decide whether it is precompiled.
  std::set<std::string> torch_sources;
  // Inputs that read any of torch's headers, also indirectly. Such an edge spends most of its time on them,
  // and needs several times the memory of others.
  std::set<std::string> torch_readers;
  // The torch_readers that include only torch's stable C interface. They need as much memory as the others,
  // but only the time of an edge without torch.
  std::set<std::string> interface_readers;
};

// The input of a source's edges, from its id: "a.cu,KEY=VALUE" -> "pack/a.cu".
std::string input_of(const std::string& source);

// The key of an edge's history: "native/fused_adam/fused_adam.cu", "native/fused_adam/@link". It has no
// archs, so the time of other archs serves as an estimate. `part`: Edge::part, because each part of a source
// has its own history; "" for a whole compile.
std::string history_key(const std::string& pack, const std::string& op, const std::string& source,
                        const std::string& part = {});
std::string history_key(const std::string& pack, const Edge& edge);

// The share of one target in an edge's `seconds`; the history stores this number.
double seconds_per_target(const Edge& edge, double seconds);
// For the order of edges: 0 for an edge that was never measured and waits for others.
double expected_seconds(const EdgeHistory& history, const std::string& pack, const Edge& edge);

// The expected cost of an edge: measured, if an earlier build did so. Else, for a slice, the time of the
// longest and the memory of the largest of the source's other slices. Else estimated: the memory from the
// same parts of the op's other sources, and from `text` if the step has seen the edge's text. Estimated
// memory is an upper bound, and peak_bytes is never 0.
EdgeCost expected_cost(const EdgeHistory& history, const std::string& pack, const Edge& edge,
                       const SeenText& text = {});
bool is_measured(const EdgeHistory& history, const std::string& pack, const Edge& edge);

}  // namespace dsbuild
