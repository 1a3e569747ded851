#include "plan/edge_history.h"

#include <algorithm>
#include <optional>

#include "plan/build_plan.h"

namespace dsbuild {
namespace {

constexpr ByteCount k_mib = 1 << 20;

double targets_of(const Edge& edge) {
  if (edge.is_part()) return 1;
  return static_cast<double>(std::max<size_t>(edge.targets.size(), 1));
}

std::string part_of(const Edge& edge) {
  if (!edge.source.empty()) return edge.part;
  if (edge.kind == EdgeKind::link) return "link";
  return edge.kind == EdgeKind::verify ? "verify" : "header";
}

const EdgeCost* remembered(const EdgeHistory& history, const std::string& key) {
  const auto found = history.measured.find(key);
  return found == history.measured.end() ? nullptr : &found->second;
}

// Of a slice that was never measured: the longest of the source's other slices.
const EdgeCost* of_sisters(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  if (!edge.is_slice()) return nullptr;
  // What the parts of slices begin with.
  const char* kind = edge.kind == EdgeKind::cuda_slice ? "compute_" : "gfx";
  const std::string slices = history_key(pack, edge.op, edge.source, kind);
  const EdgeCost* longest = nullptr;
  for (auto cost = history.measured.lower_bound(slices);
       cost != history.measured.end() && cost->first.starts_with(slices); ++cost)
    if (!longest || cost->second.seconds > longest->seconds) longest = &cost->second;
  return longest;
}

const EdgeCost* known_cost(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  const EdgeCost* own = remembered(history, history_key(pack, edge));
  return own ? own : of_sisters(history, pack, edge);
}

// Whatever part of the source the edge works on.
bool uses_torch(const EdgeHistory& history, const Edge& edge) {
  const std::string path = edge.source.substr(0, edge.source.find(','));
  return history.torch_sources.count("pack/" + path) > 0;
}

// Headers are most of a small source's work; beyond them its own length counts.
double guessed_seconds_per_target(const EdgeHistory& history, const std::string& source) {
  constexpr double k_of_headers = 1, k_of_torch_header = 20;
  constexpr double k_bytes_per_second = 3'000;
  const auto bytes = history.source_bytes.find(source);
  const double own =
      bytes == history.source_bytes.end() ? 0 : static_cast<double>(bytes->second) / k_bytes_per_second;
  return own + (history.torch_sources.count(source) > 0 ? k_of_torch_header : k_of_headers);
}

// Of edges that were never measured and join what others made.
double guessed_seconds_of_join(const Edge& edge, bool with_torch) {
  if (edge.part == "host") return with_torch ? 15 : 1;
  return 0.2;
}

// Bounds rather than means, as measured with CUDA 13 and gcc 12: an edge that took less is known the next
// time.
ByteCount guessed_peak(const Edge& edge, double seconds, bool with_torch) {
  constexpr ByteCount k_of_torch = 1200 * k_mib, k_of_headers = 250 * k_mib, k_of_join = 100 * k_mib;
  constexpr double k_bytes_per_second = 25.0 * k_mib;
  // Long runs of cicc work on what they have: 3.5 GiB after eight minutes is the most that was seen.
  constexpr ByteCount k_most = 4096 * k_mib;
  if (edge.part == "fatbin" || edge.kind == EdgeKind::verify) return k_of_join;
  if (edge.is_link()) return k_of_headers;
  if (edge.source.empty()) return k_of_torch;  // the precompiled header
  const ByteCount least = with_torch && edge.part != "front" ? k_of_torch : k_of_headers;
  return std::clamp(k_of_headers + static_cast<ByteCount>(seconds * k_bytes_per_second), least, k_most);
}

}  // namespace

std::string history_key(const std::string& pack, const std::string& op, const std::string& source,
                        const std::string& part) {
  return pack + "/" + op + "/" + source + (part.empty() ? "" : "@" + part);
}

std::string history_key(const std::string& pack, const Edge& edge) {
  return history_key(pack, edge.op, edge.source, part_of(edge));
}

double seconds_per_target(const Edge& edge, double seconds) {
  return seconds / targets_of(edge);
}

double expected_seconds(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  if (const EdgeCost* cost = known_cost(history, pack, edge)) return cost->seconds * targets_of(edge);
  if (!edge.reads_source()) return 0;  // it has to wait for others anyway
  constexpr double k_of_precompiled_header = 40;
  if (edge.source.empty()) return edge.is_compile() ? k_of_precompiled_header : 0;
  // A whole compile's time for one target is mostly that target's slice.
  const std::string whole = history_key(pack, edge.op, edge.source);
  const auto specified = history.specified.find(whole);
  double of_target = 0;
  if (const EdgeCost* cost = remembered(history, whole))
    of_target = cost->seconds;
  else if (specified != history.specified.end())
    of_target = specified->second;
  else
    of_target = guessed_seconds_per_target(history, edge.inputs.front());
  constexpr double k_share_of_front = 0.3;
  return of_target * (edge.part == "front" ? k_share_of_front : targets_of(edge));
}

EdgeCost expected_cost(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  constexpr ByteCount k_look = 64 * k_mib, k_look_with_torch = 180 * k_mib;
  const bool with_torch = uses_torch(history, edge);
  const EdgeCost* known = known_cost(history, pack, edge);
  EdgeCost cost = known ? *known : EdgeCost{};
  const bool joins = !edge.reads_source() || !edge.is_compile();
  cost.seconds =
      !known && joins ? guessed_seconds_of_join(edge, with_torch) : expected_seconds(history, pack, edge);
  if (cost.peak_bytes == 0)
    cost.peak_bytes = guessed_peak(edge, seconds_per_target(edge, cost.seconds), with_torch);
  if (cost.look_bytes == 0) cost.look_bytes = with_torch ? k_look_with_torch : k_look;
  return cost;
}

bool is_measured(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  return remembered(history, history_key(pack, edge)) != nullptr;
}

}  // namespace dsbuild
