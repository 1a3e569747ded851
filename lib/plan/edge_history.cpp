#include "plan/edge_history.h"

#include <algorithm>
#include <optional>

#include "plan/backend.h"
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

// What the parts of slices begin with: the archs of one source are much alike.
const char* slices_of(const Edge& edge) {
  return edge.kind == EdgeKind::cuda_slice ? "compute_" : "gfx";
}

// Of all that was measured of keys that begin so.
template <class Take>
void visit_costs(const EdgeHistory& history, const std::string& beginning, Take take) {
  for (auto cost = history.measured.lower_bound(beginning);
       cost != history.measured.end() && cost->first.starts_with(beginning); ++cost)
    take(cost->first, cost->second);
}

// Of a slice that was never measured: the longest of the source's other slices, with the memory of the
// largest.
std::optional<EdgeCost> of_sisters(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  std::optional<EdgeCost> sister;
  if (!edge.is_slice()) return sister;
  ByteCount largest = 0;
  visit_costs(history, history_key(pack, edge.op, edge.source, slices_of(edge)),
              [&](const std::string& key, const EdgeCost& cost) {
                (void)key;
                largest = std::max(largest, cost.peak_bytes);
                if (!sister || cost.seconds > sister->seconds) sister = cost;
              });
  if (sister) sister->peak_bytes = largest;
  return sister;
}

std::optional<EdgeCost> known_cost(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  const EdgeCost* own = remembered(history, history_key(pack, edge));
  return own ? *own : of_sisters(history, pack, edge);
}

bool reads_torch(const EdgeHistory& history, const std::string& source) {
  return history.torch_readers.count(input_of(source)) > 0;
}

bool takes_torchs_time(const EdgeHistory& history, const std::string& input) {
  return history.torch_readers.count(input) > 0 && history.interface_readers.count(input) == 0;
}

// What the same part of the op's other sources took at most, of those that read torch's headers as this one
// does; 0: nothing is known. `like`: how the part begins, "" for a whole compile.
ByteCount largest_of_op(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  const std::string like = edge.is_slice() ? slices_of(edge) : edge.part;
  const std::string op = history_key(pack, edge.op, "");
  const bool with_torch = reads_torch(history, edge.source);
  ByteCount largest = 0;
  visit_costs(history, op, [&](const std::string& key, const EdgeCost& cost) {
    const size_t at = std::min(key.rfind('@'), key.size());
    const std::string source = key.substr(op.size(), at - op.size());
    const bool has_part = at < key.size();
    const bool is_alike = like.empty()
                              ? !has_part && Path(source).extension() == Path(edge.source).extension()
                              : has_part && key.compare(at + 1, like.size(), like) == 0;
    if (is_alike && reads_torch(history, source) == with_torch) largest = std::max(largest, cost.peak_bytes);
  });
  return largest;
}

// Headers are most of a small source's work; beyond them its own length counts.
double guessed_seconds_per_target(const EdgeHistory& history, const std::string& source) {
  constexpr double k_of_headers = 1, k_of_torch_header = 20;
  constexpr double k_bytes_per_second = 3'000;
  const auto bytes = history.source_bytes.find(source);
  const double own =
      bytes == history.source_bytes.end() ? 0 : static_cast<double>(bytes->second) / k_bytes_per_second;
  return own + (takes_torchs_time(history, source) ? k_of_torch_header : k_of_headers);
}

// Of edges that were never measured and join what others made.
double guessed_seconds_of_join(const Edge& edge, bool with_torch) {
  if (edge.part == "host") return with_torch ? 15 : 1;
  return 0.2;
}

// Of edges that read torch's headers, as measured with CUDA 13, torch 2.11 and gcc 12: cicc took 2.9 GiB for
// torch/extension.h alone and 5.5 GiB at most, cudafe++ 2 GiB, a C++ compiler 1.7 GiB.
ByteCount guessed_peak_with_torch(const Edge& edge) {
  constexpr ByteCount k_of_slice = 5632 * k_mib, k_of_front = 2355 * k_mib, k_of_cxx = 1843 * k_mib;
  if (edge.part == "front") return k_of_front;
  const bool has_cicc = edge.kind == EdgeKind::cuda_compile || edge.kind == EdgeKind::cuda_slice;
  return has_cicc && edge.part != "host" ? k_of_slice : k_of_cxx;
}

// Of edges without torch's headers. Compilers took 60 bytes for each byte of a text (thrust's 12 MB, CUDA's
// own 1.3 MB), and more the longer they work on it.
ByteCount guessed_peak_without_torch(double seconds, const SeenText& text) {
  constexpr ByteCount k_of_headers = 250 * k_mib, k_for_byte = 100;
  constexpr double k_bytes_per_second = 25.0 * k_mib;
  // Long runs of cicc work on what they have: 3.5 GiB after eight minutes is the most that was seen.
  constexpr ByteCount k_most = 4096 * k_mib;
  const auto for_seconds = static_cast<ByteCount>(seconds * k_bytes_per_second);
  return std::min(k_of_headers + std::max(for_seconds, k_for_byte * text.bytes), k_most);
}

// Bounds rather than means: an edge that took less is known the next time.
ByteCount guessed_peak(const Edge& edge, double seconds, bool with_torch, const SeenText& text) {
  constexpr ByteCount k_of_link = 250 * k_mib, k_of_join = 100 * k_mib;
  if (edge.part == "fatbin" || edge.kind == EdgeKind::verify) return k_of_join;
  if (edge.is_link()) return k_of_link;
  // Without a source it is torch's precompiled header.
  if (with_torch || edge.source.empty()) return guessed_peak_with_torch(edge);
  return guessed_peak_without_torch(seconds, text);
}

// Of an edge that nobody has measured.
ByteCount bound_of_peak(const EdgeHistory& history, const std::string& pack, const Edge& edge, double seconds,
                        const SeenText& text) {
  const bool with_torch = reads_torch(history, edge.source) || text.reads_torch;
  const ByteCount guess = guessed_peak(edge, seconds, with_torch, text);
  const ByteCount other = edge.source.empty() ? 0 : largest_of_op(history, pack, edge);
  // torch's headers are most of what each takes. Without them a small source says nothing of a large one.
  const ByteCount most = with_torch && other > 0 ? std::min(guess, other + other / 2) : guess;
  return std::max(other, most);
}

}  // namespace

std::string input_of(const std::string& source) {
  return source_path(source.substr(0, source.find(',')));
}

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
  if (const auto cost = known_cost(history, pack, edge)) return cost->seconds * targets_of(edge);
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

EdgeCost expected_cost(const EdgeHistory& history, const std::string& pack, const Edge& edge,
                       const SeenText& text) {
  constexpr ByteCount k_look = 176 * k_mib, k_look_with_torch = 240 * k_mib;
  const bool with_torch = reads_torch(history, edge.source);
  const auto known = known_cost(history, pack, edge);
  EdgeCost cost = known.value_or(EdgeCost{});
  const bool joins = !edge.reads_source() || !edge.is_compile();
  cost.seconds = !known && joins
                     ? guessed_seconds_of_join(edge, takes_torchs_time(history, input_of(edge.source)))
                     : expected_seconds(history, pack, edge);
  if (cost.peak_bytes == 0)
    cost.peak_bytes = bound_of_peak(history, pack, edge, seconds_per_target(edge, cost.seconds), text);
  if (cost.look_bytes == 0) cost.look_bytes = with_torch ? k_look_with_torch : k_look;
  return cost;
}

bool is_measured(const EdgeHistory& history, const std::string& pack, const Edge& edge) {
  return remembered(history, history_key(pack, edge)) != nullptr;
}

}  // namespace dsbuild
