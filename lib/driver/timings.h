// When the edges of the last build ran and what they waited for: timings.json of the build folder. Times are
// milliseconds since the build began.
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

// One admission of an edge by the memory gate, which reserves `bytes` from `admitted` to the edge's next turn
// or its end. From `asked` to `admitted`, the edge waited for memory, and for a core if more edges run than
// there are cores.
struct TimedTurn {
  Milliseconds asked = 0, admitted = 0;
  ByteCount bytes = 0;
  Milliseconds for_core = 0;  // the part of the wait that was for a core
  Milliseconds waited() const { return admitted - asked; }
  bool operator==(const TimedTurn&) const = default;
};

struct TimedEdge {
  std::string title;                           // "compile fused_adam: fused_adam/fused_adam.cu [compute_80]"
  std::string op, kind, source, part, output;  // as in the plan's Edge; the kind in words
  std::vector<std::string> archs;              // as arch_strings writes them
  Milliseconds ready = 0;                      // when all its inputs were there
  Milliseconds begin = 0, end = 0;
  std::vector<TimedTurn> turns;
  ByteCount peak_bytes = 0;  // of its largest tool; 0: no tool ran, or the edge failed
  ResultOrigin made_of = ResultOrigin::nothing_said;
  std::string worker;       // the machine that ran its tools; "": this machine, or an unnamed one
  uint64_t elsewhere = 0;   // number of tools that ran on other machines
  bool is_shared = false;   // the shared cache gave its result in this build
  std::string remote_miss;  // why the shared cache gave no result; "": it gave one, or was not asked
  bool failed = false;
  int threads = 1;            // of its compiler
  std::vector<size_t> needs;  // indices of the edges whose outputs it uses; all smaller than its own index
  Milliseconds waited() const;
  Milliseconds waited_for_core() const;  // the part of waited() for a core; the rest was for memory
  Milliseconds waited_for_memory() const { return waited() - waited_for_core(); }
  Milliseconds worked() const { return end - begin - waited(); }
  bool compiles() const;
  std::string arch_or_part() const;  // "compute_80", "host"; for a whole command its archs, or "CPU"
  bool operator==(const TimedEdge&) const = default;
};
// How the edge got its result: "made", "partly", "cache", "shared", "same", "fresh", "elsewhere", "failed" or
// "unknown".
std::string result_word(const TimedEdge& edge);

// A transfer with the shared cache: "prefetch", "fetch" or "upload".
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
  ByteCount memory_bound = 0;  // for all edges together
  size_t planned_edges = 0;    // in all graphs; edges that did not run had nothing to do
  bool succeeded = false;
  // The estimates that the build showed: when, and the time that was left.
  std::vector<std::pair<Milliseconds, Milliseconds>> estimates;
  std::vector<TimedSpan> remote;  // in order of their ends
  std::vector<TimedEdge> edges;   // in order of their begins
  bool operator==(const Timings&) const = default;
};

Json timings_json(const Timings& timings);
Json remote_spans_json(const Timings& timings);  // the part for the shared cache
// Errors: exit 1 `bad_build_file`.
Result<Timings> parse_timings(std::string_view json, const std::string& file);
// Timings of the last build in this folder that ran an edge; nullopt: there is none. Errors: those of
// parse_timings.
Result<std::optional<Timings>> load_timings(const Path& build_dir, const FileReader& files);

// Collects the timings of the graphs of one build.
class TimingsLog {
 public:
  TimingsLog();  // the build begins now
  // Call these before add(), for the graph that it adds. Maps have outputs of edges as keys.
  void note_misses(RemoteMisses misses) { misses_ = std::move(misses); }
  void note_elsewhere(std::map<std::string, RemoteToolUse> edges) { elsewhere_ = std::move(edges); }
  void note_estimates(double begin, const std::vector<RunEstimate::Announcement>& said);
  void note_shared(std::set<std::string> outputs) { shared_ = std::move(outputs); }
  // `begin_end`: of the graph, in seconds of the steady clock, as are the times of the edges.
  void add(const Plan& plan, const BuildPlan& graph, const std::vector<FinishedEdge>& finished,
           const std::map<std::string, GateUse>& uses, std::pair<double, double> begin_end);
  // Call it after the last graph.
  void end(const Plan& plan, bool succeeded);
  bool ran_edges() const { return !timings_.edges.empty(); }
  // Call it after end(). If no edge ran, the present file stays. A file that cannot be written stops no
  // build.
  void write(const std::vector<RemoteSpan>& spans, const Path& build_dir, FileSystem& files);

 private:
  Milliseconds since_begin(double seconds) const;
  void add_use(const GateUse& use, TimedEdge& edge) const;
  double begin_;
  RemoteMisses misses_;
  std::set<std::string> shared_;
  std::map<std::string, RemoteToolUse> elsewhere_;
  std::set<std::string> graphs_;  // files of the graphs that were added; a graph may run several times
  Timings timings_;
};

}  // namespace dsbuild
