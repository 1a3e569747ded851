#include "report/trace.h"

#include <algorithm>

#include "report/json_parts.h"

namespace dsbuild {
namespace {

constexpr int k_edges = 1, k_remote = 2;  // process ids: a group of rows each
constexpr uint64_t k_microseconds = 1000;

// The rows of a group: a span goes to the first that is free.
class Slots {
 public:
  size_t take(Milliseconds begin, Milliseconds end) {
    const auto free = std::ranges::find_if(ends_, [&](Milliseconds last) { return last <= begin; });
    const auto slot = static_cast<size_t>(free - ends_.begin());
    if (free == ends_.end()) ends_.push_back(0);
    ends_[slot] = end;
    return slot;
  }
  size_t count() const { return ends_.size(); }

 private:
  std::vector<Milliseconds> ends_;
};

Json span(const std::string& name, const std::string& category, Milliseconds begin, Milliseconds end,
          int group, size_t slot) {
  return {{"name", name},
          {"cat", category},
          {"ph", "X"},
          {"ts", begin * k_microseconds},
          {"dur", (end - begin) * k_microseconds},
          {"pid", group},
          {"tid", slot}};
}

Json name_of(const char* what, const std::string& name, int group, size_t slot) {
  return {{"name", what}, {"ph", "M"}, {"pid", group}, {"tid", slot}, {"args", {{"name", name}}}};
}

void add_names(const std::string& group_name, const std::string& row, int group, size_t rows, Json& events) {
  events.push_back(name_of("process_name", group_name, group, 0));
  for (size_t slot = 0; slot < rows; ++slot)
    events.push_back(name_of("thread_name", row + " " + std::to_string(slot + 1), group, slot));
}

Json facts_of(const TimedEdge& edge) {
  Json facts = {{"op", edge.op}, {"source", edge.source}, {"output", edge.output}, {"archs", edge.archs}};
  facts["result"] = result_word(edge);
  facts["peak_bytes"] = edge.peak_bytes;
  facts["threads"] = edge.threads;
  facts["ready"] = edge.ready * k_microseconds;
  if (!edge.remote_miss.empty()) facts["remote_miss"] = edge.remote_miss;
  if (edge.elsewhere > 0) facts["tools_elsewhere"] = edge.elsewhere;
  if (!edge.worker.empty()) facts["worker"] = edge.worker;
  return facts;
}

void add_edge(const TimedEdge& edge, size_t slot, Json& events) {
  Json event = span(edge.title, edge.kind, edge.begin, edge.end, k_edges, slot);
  event["args"] = facts_of(edge);
  events.push_back(std::move(event));
  for (const TimedTurn& turn : edge.turns) {
    if (turn.admitted <= turn.asked) continue;
    Json wait = span("waits for memory", "admission", turn.asked, turn.admitted, k_edges, slot);
    wait["args"] = {{"bytes", turn.bytes}};
    events.push_back(std::move(wait));
  }
}

std::vector<TimedSpan> by_begin(std::vector<TimedSpan> spans) {
  std::ranges::stable_sort(spans, {}, &TimedSpan::begin);
  return spans;
}

}  // namespace

std::string render_trace(const Timings& timings) {
  Json events = Json::array();
  Slots slots, transfers;
  for (const TimedEdge& edge : timings.edges)
    add_edge(edge, slots.take(edge.begin, edge.end), events);
  for (const TimedSpan& each : by_begin(timings.remote))
    events.push_back(span(each.what, "shared cache", each.begin, each.end, k_remote,
                          transfers.take(each.begin, each.end)));
  add_names("edges", "slot", k_edges, slots.count(), events);
  if (transfers.count() > 0) add_names("shared cache", "transfer", k_remote, transfers.count(), events);
  Json trace = {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
  trace["otherData"] = {{"dsbuild", k_version}, {"began", timings.began}};
  return json_line(trace);
}

}  // namespace dsbuild
