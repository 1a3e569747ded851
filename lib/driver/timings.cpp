#include "driver/timings.h"

#include <algorithm>
#include <cmath>

#include "base/build_layout.h"
#include "bundle/json_cursor.h"
#include "driver/edge_needs.h"
#include "ninja/progress.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr uint64_t k_timings_schema = 1;
constexpr const char* k_shared = "shared";
// In the order of ResultOrigin.
constexpr const char* k_results[] = {"unknown", "made", "partly", "cache", "same", "fresh", "elsewhere"};

Json json_of(const TimedEdge& edge) {
  Json turns = Json::array();
  for (const TimedTurn& turn : edge.turns)
    turns.push_back({{"asked_ms", turn.asked},
                     {"admitted_ms", turn.admitted},
                     {"bytes", turn.bytes},
                     {"core_ms", turn.for_core}});
  return {{"title", edge.title},
          {"op", edge.op},
          {"kind", edge.kind},
          {"source", edge.source},
          {"part", edge.part},
          {"archs", edge.archs},
          {"output", edge.output},
          {"ready_ms", edge.ready},
          {"begin_ms", edge.begin},
          {"end_ms", edge.end},
          {"waited_ms", edge.waited()},
          {"waited_core_ms", edge.waited_for_core()},
          {"turns", turns},
          {"peak_bytes", edge.peak_bytes},
          {"result", result_word(edge)},
          {"remote_miss", edge.remote_miss},
          {"worker", edge.worker},
          {"tools_elsewhere", edge.elsewhere},
          {"threads", edge.threads},
          {"needs", edge.needs}};
}

TimedEdge read_edge(const JsonCursor& json, size_t place) {
  TimedEdge edge;
  edge.title = json.at("title").text();
  edge.op = json.at("op").text();
  edge.kind = json.at("kind").text();
  edge.source = json.at("source").text();
  edge.part = json.at("part").text();
  edge.archs = json.at("archs").texts();
  edge.output = json.at("output").text();
  edge.ready = json.at("ready_ms").number();
  edge.begin = json.at("begin_ms").number();
  edge.end = json.at("end_ms").number();
  for (const JsonCursor& turn : json.at("turns").items()) {
    edge.turns.push_back(
        {turn.at("asked_ms").number(), turn.at("admitted_ms").number(), turn.at("bytes").number()});
    if (edge.turns.back().admitted < edge.turns.back().asked) turn.refuse("ends before it begins");
    if (const auto core = turn.find("core_ms"))
      edge.turns.back().for_core = std::min(core->number(), edge.turns.back().waited());
  }
  edge.peak_bytes = json.at("peak_bytes").number();
  edge.threads = static_cast<int>(json.at("threads").number());
  for (const JsonCursor& need : json.at("needs").items())
    edge.needs.push_back(need.number());
  const std::string result = json.at("result").text();
  const auto known = std::find(std::begin(k_results), std::end(k_results), result);
  edge.failed = result == "failed";
  edge.is_shared = result == k_shared;
  if (edge.is_shared) edge.made_of = ResultOrigin::cache;
  if (const auto miss = json.find("remote_miss")) edge.remote_miss = miss->text();
  if (const auto worker = json.find("worker")) edge.worker = worker->text();
  if (const auto tools = json.find("tools_elsewhere")) edge.elsewhere = tools->number();
  if (known != std::end(k_results)) edge.made_of = static_cast<ResultOrigin>(known - std::begin(k_results));
  const bool is_late =
      std::any_of(edge.needs.begin(), edge.needs.end(), [&](size_t i) { return i >= place; });
  if (is_late) json.at("needs").refuse("names an edge that began later");
  if (edge.begin < edge.ready || edge.end < edge.begin + edge.waited()) json.refuse("ends before it begins");
  return edge;
}

Timings read_timings(const JsonCursor& top) {
  if (top.at("schema").number() != k_timings_schema)
    top.at("schema").refuse("is not 1: another version of dsbuild wrote it");
  Timings timings{.began = top.at("began").text(),
                  .total = top.at("total_ms").number(),
                  .graphs = {},
                  .cores = static_cast<int>(top.at("cores").number()),
                  .jobs = static_cast<int>(top.at("jobs").number()),
                  .memory_bound = top.at("memory_bound_bytes").number(),
                  .planned_edges = top.at("planned_edges").number(),
                  .succeeded = top.at("succeeded").flag(),
                  .estimates = {},
                  .remote = {},
                  .edges = {}};
  const auto estimates = top.find("estimates");
  for (const JsonCursor& said : estimates ? estimates->items() : std::vector<JsonCursor>{})
    timings.estimates.emplace_back(said.at("at_ms").number(), said.at("left_ms").number());
  const auto remote = top.find("remote");
  for (const JsonCursor& span : remote ? remote->items() : std::vector<JsonCursor>{})
    timings.remote.push_back(
        {span.at("what").text(), span.at("begin_ms").number(), span.at("end_ms").number()});
  for (const JsonCursor& graph : top.at("graphs").items())
    timings.graphs.emplace_back(graph.at("begin_ms").number(), graph.at("end_ms").number());
  for (const JsonCursor& edge : top.at("edges").items())
    timings.edges.push_back(read_edge(edge, timings.edges.size()));
  return timings;
}

TimedEdge describe(const Edge& edge, int threads) {
  TimedEdge timed;
  timed.title = edge_title(edge);
  timed.op = edge.op;
  timed.kind = kind_row(edge.kind).word;
  timed.source = edge.source;
  timed.part = edge.part;
  timed.archs = arch_strings(edge.targets);
  timed.output = edge.output;
  timed.threads = threads;
  return timed;
}

// `makers`: of what the graph has made so far, by output.
std::vector<size_t> makers_for(const Edge& edge, const std::map<std::string, size_t>& makers) {
  std::set<size_t> needed;
  for (const auto& inputs : {edge.inputs, edge.implicit_inputs, std::vector<std::string>{edge.after}})
    for (const std::string& input : inputs)
      if (const auto maker = makers.find(input); maker != makers.end()) needed.insert(maker->second);
  return {needed.begin(), needed.end()};
}

}  // namespace

Milliseconds TimedEdge::waited() const {
  Milliseconds sum = 0;
  for (const TimedTurn& turn : turns)
    sum += turn.waited();
  return sum;
}

Milliseconds TimedEdge::waited_for_core() const {
  Milliseconds sum = 0;
  for (const TimedTurn& turn : turns)
    sum += turn.for_core;
  return sum;
}

bool TimedEdge::compiles() const {
  return kind.ends_with("_compile") || kind.ends_with("_slice");
}

std::string TimedEdge::arch_or_part() const {
  if (!part.empty()) return part;
  return archs.empty() && compiles() ? "CPU" : join(archs, " ");
}

std::string result_word(const TimedEdge& edge) {
  if (edge.is_shared && !edge.failed) return k_shared;
  return edge.failed ? "failed" : k_results[static_cast<int>(edge.made_of)];
}

Json remote_spans_json(const Timings& timings) {
  Json spans = Json::array();
  for (const TimedSpan& span : timings.remote)
    spans.push_back({{"what", span.what}, {"begin_ms", span.begin}, {"end_ms", span.end}});
  return spans;
}

Json timings_json(const Timings& timings) {
  Json graphs = Json::array();
  for (const auto& [begin, end] : timings.graphs)
    graphs.push_back({{"begin_ms", begin}, {"end_ms", end}});
  Json estimates = Json::array();
  for (const auto& [at, left] : timings.estimates)
    estimates.push_back({{"at_ms", at}, {"left_ms", left}});
  Json json = {{"schema", k_timings_schema},
               {"dsbuild", k_version},
               {"began", timings.began},
               {"total_ms", timings.total},
               {"graphs", graphs},
               {"cores", timings.cores},
               {"jobs", timings.jobs},
               {"memory_bound_bytes", timings.memory_bound},
               {"planned_edges", timings.planned_edges},
               {"succeeded", timings.succeeded},
               {"estimates", estimates},
               {"remote", remote_spans_json(timings)},
               {"edges", Json::array()}};
  for (const TimedEdge& edge : timings.edges)
    json["edges"].push_back(json_of(edge));
  return json;
}

Result<Timings> parse_timings(std::string_view json, const std::string& file) {
  return read_json<Timings>(json, "bad_build_file", file, read_timings);
}

Result<std::optional<Timings>> load_timings(const Path& build_dir, const FileReader& files) {
  const Path file = build_dir / k_timings_file;
  if (files.kind(file) == FileKind::absent) return std::nullopt;
  DSBUILD_TRY(text, files.read_file(file));
  DSBUILD_TRY(timings, parse_timings(text, file.string()));
  return timings;
}

TimingsLog::TimingsLog() : begin_(steady_seconds()) {
  timings_.began = utc_text(unix_seconds());
}

Milliseconds TimingsLog::since_begin(double seconds) const {
  return static_cast<Milliseconds>(std::llround(std::max(seconds - begin_, 0.0) * 1000));
}

void TimingsLog::note_estimates(double begin, const std::vector<RunEstimate::Announcement>& said) {
  for (const RunEstimate::Announcement& each : said)
    timings_.estimates.emplace_back(since_begin(begin + each.seconds),
                                    static_cast<Milliseconds>(std::llround(each.seconds_left * 1000)));
}

void TimingsLog::add(const Plan& plan, const BuildPlan& graph, const std::vector<FinishedEdge>& finished,
                     const std::map<std::string, GateUse>& uses, std::pair<double, double> begin_end) {
  const Milliseconds graph_begin = since_begin(begin_end.first);
  timings_.graphs.emplace_back(graph_begin, since_begin(begin_end.second));
  if (graphs_.insert(graph.graph_file).second) timings_.planned_edges += graph.edges.size();
  std::vector<const FinishedEdge*> ran;
  for (const FinishedEdge& ended : finished)
    ran.push_back(&ended);
  std::stable_sort(ran.begin(), ran.end(),
                   [](const FinishedEdge* a, const FinishedEdge* b) { return a->begin < b->begin; });
  std::map<std::string, size_t> makers;
  for (const FinishedEdge* ended : ran) {
    const Edge& edge = *ended->edge;
    TimedEdge timed = describe(edge, threads_of_nvcc(edge, plan, graph));
    timed.failed = ended->failed;
    timed.begin = since_begin(ended->begin);
    timed.end = since_begin(ended->begin + ended->seconds);
    timed.needs = makers_for(edge, makers);
    timed.ready = graph_begin;
    for (const size_t need : timed.needs)
      timed.ready = std::max(timed.ready, timings_.edges[need].end);
    timed.ready = std::min(timed.ready, timed.begin);
    if (const auto use = uses.find(edge.output); use != uses.end()) add_use(use->second, timed);
    timed.is_shared = timed.made_of == ResultOrigin::cache && shared_.contains(edge.output);
    if (const auto miss = misses_.find(edge.output); miss != misses_.end() && !timed.is_shared)
      timed.remote_miss = miss->second;
    if (const auto there = elsewhere_.find(edge.output); there != elsewhere_.end()) {
      timed.worker = there->second.worker;
      timed.elsewhere = static_cast<uint64_t>(there->second.tools);
    }
    makers[edge.output] = timings_.edges.size();
    for (const std::string& output : edge.more_outputs)
      makers[output] = timings_.edges.size();
    timings_.edges.push_back(std::move(timed));
  }
}

void TimingsLog::add_use(const GateUse& use, TimedEdge& edge) const {
  edge.made_of = use.made_of;
  edge.peak_bytes = std::max(use.look_bytes, use.peak_bytes);
  for (const GateTurn& turn : use.turns) {
    const Milliseconds asked = std::clamp(since_begin(turn.asked), edge.begin, edge.end);
    TimedTurn& timed = edge.turns.emplace_back();
    timed = {asked, std::clamp(since_begin(turn.admitted), asked, edge.end), turn.bytes};
    timed.for_core = std::min(static_cast<Milliseconds>(std::llround(turn.for_core * 1000)), timed.waited());
  }
}

void TimingsLog::end(const Plan& plan, bool succeeded) {
  const Settings& settings = plan.settings();
  const Host& host = plan.survey.machine.host;
  timings_.total = since_begin(steady_seconds());
  timings_.cores = host.cores;
  timings_.jobs = jobs_for(settings, host);
  timings_.memory_bound = memory_for(settings, host);
  timings_.succeeded = succeeded;
}

void TimingsLog::write(const std::vector<RemoteSpan>& spans, const Path& build_dir, FileSystem& files) {
  if (!ran_edges()) return;
  for (const RemoteSpan& span : spans)
    timings_.remote.push_back({span.what, since_begin(span.begin), since_begin(span.end)});
  (void)files.write_file(build_dir / k_timings_file, timings_json(timings_).dump() + "\n");
}

}  // namespace dsbuild
