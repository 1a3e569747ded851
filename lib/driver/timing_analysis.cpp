#include "driver/timing_analysis.h"

#include <algorithm>
#include <numeric>

namespace dsbuild {
namespace {

// What is so at a moment.
struct Moment {
  int64_t threads = 0;  // of edges that work
  int64_t waiting = 0;  // for memory
  int64_t ready = 0;    // not begun, or waiting for a core
  int64_t to_begin = 0;
  int64_t set_aside = 0, peaks = 0;

  void add(const Moment& change) {
    threads += change.threads;
    waiting += change.waiting;
    ready += change.ready;
    to_begin += change.to_begin;
    set_aside += change.set_aside;
    peaks += change.peaks;
  }
};

using Changes = std::map<Milliseconds, Moment>;

void add_edge(const TimedEdge& edge, Changes& changes) {
  const auto between = [&](Milliseconds begin, Milliseconds end, Moment value) {
    changes[begin].add(value);
    changes[end].add(
        {-value.threads, -value.waiting, -value.ready, -value.to_begin, -value.set_aside, -value.peaks});
  };
  const auto peak = static_cast<int64_t>(edge.peak_bytes);
  between(0, edge.begin, {.to_begin = 1});
  between(edge.ready, edge.begin, {.ready = 1});
  between(edge.begin, edge.end, {.threads = edge.threads});
  for (size_t i = 0; i < edge.turns.size(); ++i) {
    const TimedTurn& turn = edge.turns[i];
    const Milliseconds end = i + 1 < edge.turns.size() ? edge.turns[i + 1].asked : edge.end;
    // Taken as if the wait for a core came first.
    const Milliseconds has_core = turn.asked + turn.for_core;
    between(turn.asked, has_core, {.threads = -edge.threads, .ready = 1});
    between(has_core, turn.admitted, {.threads = -edge.threads, .waiting = 1});
    between(turn.admitted, end, {.set_aside = static_cast<int64_t>(turn.bytes), .peaks = peak});
  }
}

CoreUse use_at(const Moment& now, int64_t cores) {
  const int64_t busy = std::clamp<int64_t>(now.threads, 0, cores);
  int64_t idle = cores - busy;
  const auto take = [&](int64_t most) {
    const int64_t taken = std::min(idle, most);
    idle -= taken;
    return static_cast<uint64_t>(taken);
  };
  CoreUse use{.busy = static_cast<uint64_t>(busy)};
  use.memory = take(now.waiting);
  use.jobs = take(now.ready);
  (now.to_begin > 0 ? use.dependency : use.finished) = static_cast<uint64_t>(idle);
  return use;
}

void find_chain(const Timings& timings, TimingAnalysis& analysis) {
  const std::vector<TimedEdge>& edges = timings.edges;
  std::vector<Milliseconds> lengths(edges.size(), 0);  // of the longest chain that ends here
  std::vector<size_t> before(edges.size(), edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    for (const size_t need : edges[i].needs)
      if (before[i] == edges.size() || lengths[need] > lengths[before[i]]) before[i] = need;
    lengths[i] = edges[i].worked() + (before[i] == edges.size() ? 0 : lengths[before[i]]);
  }
  const auto longest = std::max_element(lengths.begin(), lengths.end());
  if (longest == lengths.end()) return;
  analysis.chain_time = *longest;
  for (auto i = static_cast<size_t>(longest - lengths.begin()); i < edges.size(); i = before[i])
    analysis.chain.push_back(i);
  std::reverse(analysis.chain.begin(), analysis.chain.end());
}

Bound bound_of(const TimingAnalysis& analysis, const Timings& timings) {
  const CoreUse& cores = analysis.cores;
  const uint64_t all = cores.busy + cores.memory + cores.jobs + cores.dependency + cores.finished;
  if (cores.memory > cores.dependency + cores.finished && cores.memory * 10 >= all) return Bound::memory;
  const auto at_once = static_cast<Milliseconds>(std::max(std::min(timings.jobs, timings.cores), 1));
  if (analysis.chain_time * at_once >= analysis.work_time) return Bound::chain;
  return timings.jobs < timings.cores ? Bound::jobs : Bound::cores;
}

}  // namespace

const char* word(Bound bound) {
  static const char* const k_words[] = {"chain", "cores", "jobs", "memory"};
  return k_words[static_cast<int>(bound)];
}

std::vector<CoreSpan> core_spans(const Timings& timings) {
  Changes changes;
  for (const TimedEdge& edge : timings.edges)
    add_edge(edge, changes);
  for (const auto& [begin, end] : timings.graphs) {
    changes[begin];
    changes[end];
  }
  std::vector<CoreSpan> spans;
  Moment now;
  auto graph = timings.graphs.begin();
  for (auto change = changes.begin(); change != changes.end(); ++change) {
    now.add(change->second);
    while (graph != timings.graphs.end() && graph->second <= change->first)
      ++graph;
    const auto next = std::next(change);
    if (graph == timings.graphs.end() || next == changes.end() || change->first < graph->first) continue;
    spans.push_back({change->first, next->first, use_at(now, timings.cores),
                     static_cast<ByteCount>(now.set_aside), static_cast<ByteCount>(now.peaks)});
  }
  return spans;
}

TimingAnalysis analyse(const Timings& timings) {
  TimingAnalysis analysis;
  find_chain(timings, analysis);
  for (const auto& [begin, end] : timings.graphs)
    analysis.graph_time += end - begin;
  for (const TimedEdge& edge : timings.edges)
    analysis.work_time += edge.worked() * static_cast<Milliseconds>(edge.threads);
  for (const CoreSpan& span : core_spans(timings)) {
    const Milliseconds length = span.end - span.begin;
    analysis.cores.busy += span.cores.busy * length;
    analysis.cores.memory += span.cores.memory * length;
    analysis.cores.jobs += span.cores.jobs * length;
    analysis.cores.dependency += span.cores.dependency * length;
    analysis.cores.finished += span.cores.finished * length;
  }
  analysis.bound = bound_of(analysis, timings);
  return analysis;
}

std::vector<size_t> slowest_compiles(const Timings& timings) {
  std::vector<size_t> places(timings.edges.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::erase_if(places, [&](size_t i) { return !timings.edges[i].compiles(); });
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return timings.edges[a].worked() > timings.edges[b].worked(); });
  return places;
}

size_t count_results(const Timings& timings, const std::string& result) {
  const auto count = std::count_if(timings.edges.begin(), timings.edges.end(),
                                   [&](const TimedEdge& edge) { return result_word(edge) == result; });
  if (result != "fresh") return static_cast<size_t>(count);
  std::set<std::string> began;
  for (const TimedEdge& edge : timings.edges)
    began.insert(edge.output);
  return static_cast<size_t>(count) + timings.planned_edges - std::min(timings.planned_edges, began.size());
}

}  // namespace dsbuild
