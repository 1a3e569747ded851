// Runs a graph until nothing of it is due: what changed while it was compiled is compiled once more.
#pragma once

#include "driver/graph_run.h"

namespace dsbuild {

// The sum of all rounds. Nothing is to be published of files of which two actions saw two states: all records
// are of what is there at the end. Errors: `unsettled`, where it goes on changing.
Result<GraphRun> run_until_settled(const GraphRunner& runner, const BuildPlan& graph);

// The run in which nvcc itself compiles the sources of slices, to compare the results
// (lib/plan/comparison_graph.h).
struct ComparisonRun {
  BuildPlan graph;
  GraphRun run;
  size_t compared = 0;  // files of ops that did not fail
};
// Of all ops but those that failed already. A difference is a failure of its op: error `not_as_nvcc` in its
// words.
Result<std::unique_ptr<ComparisonRun>> run_comparison(const GraphRunner& runner,
                                                      const std::vector<EdgeFailure>& failures);

// Adds what another run did.
void add_run(GraphRun& sum, GraphRun more);

}  // namespace dsbuild
