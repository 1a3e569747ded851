// What a request tells on its way, to whoever shows it, writes it down or counts it. Called from the thread
// that works on the request.
#pragma once

#include "ninja/progress.h"

namespace dsbuild {

struct EdgeFailure;
struct ToolDiagnostic;
struct Plan;
struct ShardShare;

// What became of the ops of a run that did not come to its end.
struct UnfinishedRun {
  std::vector<std::string> failed;
  std::vector<std::string> built;  // of these nothing is left to be run
  size_t edges_left = 0;
};

class Events {
 public:
  virtual ~Events() = default;
  // Before anything of the plan is run. `removed`: ops of the bundle that is there, which the new one will
  // not have.
  virtual void on_plan(const Plan& /*plan*/, const std::vector<std::string>& /*removed*/) {}
  virtual void on_shard(const ShardShare& /*share*/) {}  // after the plan, of a shard alone
  // Around each run of a graph: there are several where files change while they are compiled. The estimate is
  // the run's, until it ends.
  virtual void on_graph_begins(RunEstimate& /*estimate*/) {}
  virtual void on_edge(const EdgeEvent& /*event*/) {}
  virtual void on_tick() {}  // while a graph runs, at least every 250 ms
  virtual void on_graph_ends() {}
  virtual void on_diagnostic(const ToolDiagnostic& /*told*/) {}  // while a graph runs; each once
  // After the run, one for each source.
  virtual void on_failure(const EdgeFailure& /*failure*/) {}
  virtual void on_unfinished(const UnfinishedRun& /*left*/) {}  // before what failed is told
  virtual void on_warning(const Warning& /*warning*/) {}        // those of the plan are in it
  virtual void on_removed(const Path& /*folder*/) {}            // by clean
  virtual void on_note(const std::string& /*line*/) {}          // what it does besides
  virtual void on_message(const std::string& /*line*/) {}       // what it waits for
};

}  // namespace dsbuild
