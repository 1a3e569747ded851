// Runs a graph until no action is stale. If a file changes during a run, a further run compiles it again.
#pragma once

#include "driver/graph_run.h"

namespace dsbuild {

// Returns the sum of all runs. At the end, all records describe the present files, so the bundle never mixes
// two states of a file. Error: `unsettled` if files still change after four rounds.
Result<GraphRun> run_until_settled(const GraphRunner& runner, const BuildPlan& graph);

// A run in which nvcc compiles the sources of slices as a whole, to compare the objects
// (lib/plan/comparison_graph.h).
struct ComparisonRun {
  BuildPlan graph;
  GraphRun run;
  size_t compared = 0;  // number of files, of ops that did not fail
};
// Compares all ops except those that failed already. A difference is an EdgeFailure of its op with the text
// of `not_as_nvcc`.
Result<std::unique_ptr<ComparisonRun>> run_comparison(const GraphRunner& runner,
                                                      const std::vector<EdgeFailure>& failures);

// Adds the counts, failures and warnings of `more` to `sum`.
void add_run(GraphRun& sum, GraphRun more);

}  // namespace dsbuild
