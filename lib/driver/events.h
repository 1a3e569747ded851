// The progress of a request, for code that shows, stores or counts it. The request's own thread makes all
// calls.
#pragma once

#include "ninja/progress.h"

namespace dsbuild {

struct EdgeFailure;
struct ToolDiagnostic;
struct Plan;
struct ShardShare;

// The state of the ops after a run that failed or was interrupted.
struct UnfinishedRun {
  std::vector<std::string> failed;
  std::vector<std::string> built;  // ops with no edge left to run
  size_t edges_left = 0;
};

class Events {
 public:
  virtual ~Events() = default;
  // Before any edge of the plan runs. `removed`: ops of the earlier bundle that the new one will not have.
  virtual void on_plan(const Plan& /*plan*/, const std::vector<std::string>& /*removed*/) {}
  virtual void on_shard(const ShardShare& /*share*/) {}  // after the plan; only for a shard
  // Before each run of a graph. There are several runs if files change during the build. The estimate is
  // valid until the run ends.
  virtual void on_graph_begins(RunEstimate& /*estimate*/) {}
  virtual void on_edge(const EdgeEvent& /*event*/) {}
  virtual void on_tick() {}  // while a graph runs, at least every 250 ms
  virtual void on_graph_ends() {}
  virtual void on_diagnostic(const ToolDiagnostic& /*told*/) {}  // while a graph runs; once for each text
  // After the run, once for each source.
  virtual void on_failure(const EdgeFailure& /*failure*/) {}
  virtual void on_unfinished(const UnfinishedRun& /*left*/) {}  // before the failures
  virtual void on_warning(const Warning& /*warning*/) {}   // not for warnings of the plan, which on_plan has
  virtual void on_removed(const Path& /*folder*/) {}       // clean removed it
  virtual void on_note(const std::string& /*line*/) {}     // something that it does as well
  virtual void on_message(const std::string& /*line*/) {}  // something that it waits for
};

}  // namespace dsbuild
