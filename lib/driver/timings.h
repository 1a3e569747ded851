// What the edges of the last build took, when, and what they waited for: timings.json of the build folder.
// Times are milliseconds since the build began.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "driver/plan.h"
#include "ninja/run_estimate.h"
#include "remote/mirror_log.h"
#include "remote_execution/remote_executor.h"
#include "sys/memory_gate.h"

namespace dsbuild {

using Milliseconds = uint64_t;

// `bytes` were set aside for an edge from `admitted` to its next turn, or its end. Before, it waited for a
// core, where more edges run than work here, and for them.
struct TimedTurn {
  Milliseconds asked = 0, admitted = 0;
  ByteCount bytes = 0;
  Milliseconds for_core = 0;  // of the time from `asked` to `admitted`
  Milliseconds waited() const { return admitted - asked; }
  bool operator==(const TimedTurn&) const = default;
};

struct TimedEdge {
  std::string title;                           // "compile fused_adam: fused_adam/fused_adam.cu [compute_80]"
  std::string op, kind, source, part, output;  // as of the plan's edge; the kind in words
  std::vector<std::string> archs;              // in the form of arch_strings
  Milliseconds ready = 0;                      // all that it uses was there
  Milliseconds begin = 0, end = 0;
  std::vector<TimedTurn> turns;
  ByteCount peak_bytes = 0;  // of its largest tool; 0: none ran, or it failed
  ResultOrigin made_of = ResultOrigin::nothing_said;
  std::string worker;       // that ran its tools; "": they ran here, or it does not say
  uint64_t elsewhere = 0;   // tools that ran on another machine
  bool is_shared = false;   // the shared cache gave its result in this build
  std::string remote_miss;  // why the shared cache did not; "": it was not asked, or did
  bool failed = false;
  int threads = 1;            // that its compiler was given
  std::vector<size_t> needs;  // those whose outputs it uses, of the same list; smaller than its own place
  Milliseconds waited() const;
  Milliseconds waited_for_core() const;  // of that; the rest was for memory
  Milliseconds waited_for_memory() const { return waited() - waited_for_core(); }
  Milliseconds worked() const { return end - begin - waited(); }
  bool compiles() const;
  std::string arch_or_part() const;  // "compute_80", "host"; of a whole command its archs, or "CPU"
  bool operator==(const TimedEdge&) const = default;
};
// "made", "partly", "cache", "shared", "same", "fresh", "elsewhere", "failed", "unknown": what
// came of it.
std::string result_word(const TimedEdge& edge);

// What the build did with the shared cache: "prefetch", "fetch", "upload".
struct TimedSpan {
  std::string what;
  Milliseconds begin = 0, end = 0;
  bool operator==(const TimedSpan&) const = default;
};

struct Timings {
  std::string began;  // "2026-11-25T10:47:02Z"
  Milliseconds total = 0;
  std::vector<std::pair<Milliseconds, Milliseconds>> graphs;  // when Ninja ran: begin, end
  int cores = 1, jobs = 1;
  ByteCount memory_bound = 0;  // what all edges together might take
  size_t planned_edges = 0;    // of all graphs; those that did not run had nothing to do
  bool succeeded = false;
  // How long the graph that ran still takes, as it was told on the way: when, and how long.
  std::vector<std::pair<Milliseconds, Milliseconds>> estimates;
  std::vector<TimedSpan> remote;  // by their ends
  std::vector<TimedEdge> edges;   // in the order in which they began
  bool operator==(const Timings&) const = default;
};

Json timings_json(const Timings& timings);
Json remote_spans_json(const Timings& timings);  // a part of it
// Errors: exit 1 `bad_build_file`.
Result<Timings> parse_timings(std::string_view json, const std::string& file);
// Of the last build in this folder that ran an edge; nullopt: there is none. Errors: those of parse_timings.
Result<std::optional<Timings>> load_timings(const Path& build_dir, const FileReader& files);

// Collects what the graphs of one build take.
class TimingsLog {
 public:
  TimingsLog();  // the build begins
  // Of the graph that is added next, by the outputs of edges.
  void note_misses(RemoteMisses misses) { misses_ = std::move(misses); }
  void note_elsewhere(std::map<std::string, RemoteToolUse> edges) { elsewhere_ = std::move(edges); }
  void note_estimates(double begin, const std::vector<RunEstimate::Announcement>& said);
  void note_shared(std::set<std::string> outputs) { shared_ = std::move(outputs); }
  // `begin`, `end`: of the graph, by the steady clock, as are the times of the edges.
  void add(const Plan& plan, const BuildPlan& graph, const std::vector<FinishedEdge>& finished,
           const std::map<std::string, GateUse>& uses, std::pair<double, double> begin_end);
  // The graphs have ended.
  void end(const Plan& plan, bool succeeded);
  bool ran_edges() const { return !timings_.edges.empty(); }
  // After end(). Where no edge ran, what is there stays. A file that cannot be written stops no build.
  void write(const std::vector<RemoteSpan>& spans, const Path& build_dir, FileSystem& files);

 private:
  Milliseconds since_begin(double seconds) const;
  void add_use(const GateUse& use, TimedEdge& edge) const;
  double begin_;
  RemoteMisses misses_;
  std::set<std::string> shared_;
  std::map<std::string, RemoteToolUse> elsewhere_;
  std::set<std::string> graphs_;  // their files: one may run several times
  Timings timings_;
};

}  // namespace dsbuild
