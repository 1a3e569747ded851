#include "driver/timing_analysis.h"
#include "ninja/progress.h"
#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

// What is less is not told.
constexpr Milliseconds k_shown_time = 50;

std::string time_text(uint64_t milliseconds) {
  return seconds_text(static_cast<double>(milliseconds) / 1000);
}

// "1.2 s for memory, 0.3 s for a core"
std::string waits_text(const TimedEdge& edge) {
  std::vector<std::string> words;
  for (const auto& [time, what] :
       {std::pair(edge.waited_for_memory(), "memory"), std::pair(edge.waited_for_core(), "a core")})
    if (time >= k_shown_time) words.push_back(time_text(time) + " for " + what);
  return join(words, ", ");
}

std::string slowest_text(const Timings& timings, const Style& style) {
  constexpr size_t k_shown = 10;
  const std::vector<size_t> slowest = slowest_compiles(timings);
  Table table{{"op", "file", "arch", "time", "memory", "result", "waited"}, {}};
  for (size_t i = 0; i < std::min(slowest.size(), k_shown); ++i) {
    const TimedEdge& edge = timings.edges[slowest[i]];
    table.rows.push_back({edge.op, edge.source, edge.arch_or_part(), time_text(edge.worked()),
                          edge.peak_bytes > 0 ? human_size(edge.peak_bytes) : "", result_word(edge),
                          waits_text(edge)});
  }
  const size_t others = slowest.size() - std::min(slowest.size(), k_shown);
  return render_table(table, style) + (others > 0 ? plural(others, "other compile") + " took less\n" : "");
}

std::string chain_text(const Timings& timings, const TimingAnalysis& analysis) {
  std::string text = "critical path  " + time_text(analysis.chain_time) + " of " +
                     time_text(analysis.graph_time) + " in which edges ran\n";
  for (const size_t i : analysis.chain)
    text += "  " + time_text(timings.edges[i].worked()) + "  " + timings.edges[i].title + "\n";
  return text;
}

std::string bound_text(const Timings& timings, const TimingAnalysis& analysis) {
  const std::string cores = plural(static_cast<size_t>(timings.cores), "core");
  switch (analysis.bound) {
    case Bound::chain:
      return "the critical path: more cores would not help";
    case Bound::cores:
      return "the " + cores + ": " + time_text(analysis.work_time) + " of work";
    case Bound::jobs:
      return "--jobs " + std::to_string(timings.jobs) + " on " + cores;
    case Bound::memory:
      return "memory: " + human_size(timings.memory_bound) + " (--memory)";
  }
  return "";
}

std::string idle_text(const CoreUse& use) {
  const uint64_t idle = use.memory + use.jobs + use.dependency + use.finished;
  std::string text = "core time  " + time_text(use.busy) + " busy, " + time_text(idle) + " idle";
  std::vector<std::string> reasons;
  for (const auto& [time, why] :
       {std::pair(use.dependency, "no edge was ready"), std::pair(use.memory, "waiting for memory"),
        std::pair(use.jobs, "as many ran as --jobs lets"), std::pair(use.finished, "every edge had begun")})
    if (time >= k_shown_time) reasons.push_back(time_text(time) + " " + why);
  return text + (reasons.empty() ? "" : ": " + join(reasons, ", ")) + "\n";
}

// What came of an edge, and how people are told.
constexpr std::pair<const char*, const char*> k_results[] = {{"made", "made"},
                                                             {"partly", "made in part"},
                                                             {"cache", "from the cache"},
                                                             {"shared", "from the shared cache"},
                                                             {"same", "the same text as before"},
                                                             {"fresh", "up to date"},
                                                             {"elsewhere", "made on other machines"},
                                                             {"failed", "failed"},
                                                             {"unknown", "not known"}};

std::string results_text(const Timings& timings) {
  std::vector<std::string> counts;
  for (const auto& [result, words] : k_results)
    if (const size_t count = count_results(timings, result); count > 0)
      counts.push_back(std::to_string(count) + " " + words);
  return "edges  " + join(counts, ", ") + "\n";
}

// "shared cache  prefetch 0.4 s, fetch 0.1 s (3 times), upload 1.2 s (2 times)"
std::string remote_text(const Timings& timings) {
  std::vector<std::string> words;
  for (const char* what : {k_prefetch_span, k_fetch_span, k_upload_span}) {
    Milliseconds sum = 0;
    size_t times = 0;
    for (const TimedSpan& span : timings.remote) {
      if (span.what != what) continue;
      sum += span.end - span.begin;
      ++times;
    }
    if (times > 0)
      words.push_back(std::string(what) + " " + time_text(sum) +
                      (times > 1 ? " (" + std::to_string(times) + " times)" : ""));
  }
  return words.empty() ? "" : "shared cache  " + join(words, ", ") + "\n";
}

Json core_use_json(const CoreUse& use) {
  return {{"busy_ms", use.busy},
          {"memory_ms", use.memory},
          {"jobs_ms", use.jobs},
          {"dependency_ms", use.dependency},
          {"finished_ms", use.finished}};
}

}  // namespace

std::string render_timings(const Timings& timings, const Style& style) {
  const TimingAnalysis analysis = analyse(timings);
  return style.bold("timings") + "  of the build of " + timings.began + ", " + time_text(timings.total) +
         ", " + std::to_string(timings.jobs) + " at a time on " +
         plural(static_cast<size_t>(timings.cores), "core") + "\n" + slowest_text(timings, style) +
         chain_text(timings, analysis) + "bound by  " + bound_text(timings, analysis) + "\n" +
         idle_text(analysis.cores) + results_text(timings) + remote_text(timings);
}

Json timing_analysis_json(const Timings& timings) {
  const TimingAnalysis analysis = analyse(timings);
  Json results = Json::object();
  for (const auto& [result, words] : k_results)
    results[result] = count_results(timings, result);
  return {{"slowest", slowest_compiles(timings)}, {"chain", analysis.chain},
          {"chain_ms", analysis.chain_time},      {"graph_ms", analysis.graph_time},
          {"work_ms", analysis.work_time},        {"cores", core_use_json(analysis.cores)},
          {"bound", word(analysis.bound)},        {"results", results}};
}

std::string render_timings_json(const Timings& timings) {
  Json json = {{"event", "timings"}, {"analysis", timing_analysis_json(timings)}};
  const Json document = timings_json(timings);
  for (const JsonMember& member : *document.members())
    json.add(member.key, member.value);
  return json_line(json);
}

}  // namespace dsbuild
