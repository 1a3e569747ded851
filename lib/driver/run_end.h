// How the run of a plan's graph ended, and what that means for what it made.
#pragma once

#include "driver/graph_run.h"

namespace dsbuild {

// By a signal that was meant for us, which Ninja too was told of. Ninja >= 1.13 also ends with the code of an
// edge, which may be that of a killed compiler.
bool was_interrupted(const GraphRun& run);
// Not when it was killed: then not even --keep-going may publish what there is.
bool ended_by_itself(const GraphRun& run);

// Tells the session's events what failed. Errors: why nothing of the run is to be published: `interrupted`,
// `ninja_failed`, `edge_failed` but with --keep-going, those of Session::check.
Result<void> end_run(const GraphRun& run, const Plan& plan, Session& session);
// Of a run with failures.
Error edges_failed(const GraphRun& run, const Plan& plan);

// Digests and facts go to the disk.
void save_what_was_learnt(const GraphRun& run, Session& session);

// Who ends a build by a signal does not wait for its uploads. `code`: of its error.
bool was_ended(const std::string& code);

}  // namespace dsbuild
