// Runs the graph under the user's eyes: progress, log files, failures that say how to repeat them.
#pragma once

#include <vector>

#include "command.h"
#include "report/report.h"
#include "run_log.h"
#include "stages.h"
#include "sys/lock.h"

namespace dsbuild {

struct GraphRun {
  int exit_code = 0;  // Ninja's; 128 + n after signal n
  int edges_run = 0;
  StoreUses store;
  std::optional<FinishedEdge> slowest;
  std::vector<EdgeFailure> failures;
  std::string trouble;  // Ninja's own complaint
  std::string stopped;  // why Ninja itself ended early; "" too when it was killed
  MemoryWaits waits;
  std::vector<Warning> warnings;
};

// What runs graphs in a build folder.
struct GraphRunner {
  const Stages& stages;
  const Ninja& ninja;
  const FolderLock& lock;
  RunLog& log;
  const CommandContext& context;
};

// `plan`: that of the stages, or one that goes with it, and outlives what is returned. `reasons`: why edges
// run (reasons_of in due_actions.h); the log and the user are told.
Result<GraphRun> run_graph(const GraphRunner& runner, const BuildPlan& plan, const PendingEdges& reasons);

}  // namespace dsbuild
