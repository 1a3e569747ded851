// Runs the graph under the user's eyes: progress, log files, failures that say how to repeat them.
#pragma once

#include <vector>

#include "command.h"
#include "report/report.h"
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
};

// `reasons`: why edges run (find_pending_edges of due_actions.h); the log and the user are told.
Result<GraphRun> run_graph(const Stages& stages, const PendingEdges& reasons, const Ninja& ninja,
                           const FolderLock& lock, int jobs, const CommandContext& context);

}  // namespace dsbuild
