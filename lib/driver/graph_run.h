// Runs a graph: events on the way, a log file of each failure that says how to repeat it.
#pragma once

#include <set>
#include <vector>

#include "cache/tiered_cache.h"
#include "driver/diagnostic_collector.h"
#include "driver/edge_failure.h"
#include "driver/plan.h"
#include "driver/run_log.h"
#include "driver/timings.h"
#include "remote_execution/remote_executor.h"
#include "sys/lock.h"

namespace dsbuild {

// What it cost to keep to a bound of memory.
struct MemoryWaits {
  ByteCount bound = 0;
  size_t edges = 0;                                      // that waited
  double seconds = 0;                                    // all of them together
  std::vector<std::pair<const Edge*, ByteCount>> alone;  // edges that need more than all, so they ran alone
};

struct GraphRun {
  int exit_code = 0;  // Ninja's; 128 + n after signal n
  int edges_run = 0;
  int compiles = 0;         // of them, whose tools ran: no result was there for them
  int shared_compiles = 0;  // compiles whose results came from the shared cache
  CacheUses store;
  ExecutorUses execution;  // what ran on other machines
  std::optional<FinishedEdge> slowest;
  std::vector<EdgeFailure> failures;
  std::string trouble;  // Ninja's own complaint
  std::string stopped;  // why Ninja itself ended early; "" too when it was killed
  MemoryWaits waits;
  std::vector<Warning> warnings;
  std::vector<Warning> told;       // those of before the first edge, which were told then
  size_t edges_left = 0;           // of a run that failed or was interrupted: how many are still to be run
  std::set<std::string> ops_left;  // of which ops
};

// What runs the graphs of a plan in its build folder.
struct GraphRunner {
  const Plan& plan;
  const Ninja& ninja;
  const FolderLock& lock;
  RunLog& log;
  DiagnosticCollector& diagnostics;
  TimingsLog& timings;
  Session& session;
};

// Of a plan's tools; tells the session's events.
DiagnosticCollector collector_for(const Plan& plan, Session& session);

// `graph`: the plan's, or one that goes with it, and outlives what is returned. `reasons`: why edges run
// (reasons_of in due_actions.h), for events and the log. Errors: those of Session::check, and what keeps
// Ninja from running at all.
Result<GraphRun> run_graph(const GraphRunner& runner, const BuildPlan& graph, const PendingEdges& reasons);

}  // namespace dsbuild
