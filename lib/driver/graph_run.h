// Runs a graph, sends events, and writes a log for each failure, which says how to repeat it.
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

// How long edges waited because of the memory limit.
struct MemoryWaits {
  ByteCount bound = 0;
  size_t edges = 0;    // number of edges that waited
  double seconds = 0;  // sum over all edges
  // Edges that need more than the bound, so they ran alone.
  std::vector<std::pair<const Edge*, ByteCount>> alone;
};

struct GraphRun {
  int exit_code = 0;  // Ninja's; 128 + n after signal n
  int edges_run = 0;
  int compiles = 0;         // edges_run that compile and whose tools ran, because no result was found
  int shared_compiles = 0;  // compiles whose results came from the shared cache
  CacheUses store;
  ExecutorUses execution;  // tools that ran on other machines
  std::optional<FinishedEdge> slowest;
  std::vector<EdgeFailure> failures;
  std::string trouble;  // Ninja's own error message
  std::string stopped;  // why Ninja itself ended early; also "" if it was killed
  MemoryWaits waits;
  std::vector<Warning> warnings;
  std::vector<Warning> told;       // warnings from before the first edge, which were shown then
  size_t edges_left = 0;           // after a failure or interrupt: edges that have not run
  std::set<std::string> ops_left;  // the ops of those edges
};

// The objects that are used to run the graphs of a plan in its build folder.
struct GraphRunner {
  const Plan& plan;
  const Ninja& ninja;
  const FolderLock& lock;
  RunLog& log;
  DiagnosticCollector& diagnostics;
  TimingsLog& timings;
  Session& session;
};

// A collector for a plan's tools; it sends messages to the session's events.
DiagnosticCollector collector_for(const Plan& plan, Session& session);

// `graph`: the plan's own or one for the same folder; it must outlive the result. `reasons`: why edges run
// (reasons_of in due_actions.h), for events and the log. Errors: those of Session::check, and that Ninja
// cannot start. A failed edge is no error here.
Result<GraphRun> run_graph(const GraphRunner& runner, const BuildPlan& graph, const PendingEdges& reasons);

}  // namespace dsbuild
