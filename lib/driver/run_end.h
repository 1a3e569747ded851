// Decides how the run of a graph ended, and whether its results may be published.
#pragma once

#include "driver/graph_run.h"

namespace dsbuild {

// Whether a signal to dsbuild (SIGINT, SIGTERM, SIGHUP) ended the run. The exit code alone does not tell:
// Ninja >= 1.13 also exits with the code of an edge, whose compiler may have been killed.
bool was_interrupted(const GraphRun& run);
// Whether Ninja ended without being killed. If it was killed, dsbuild publishes nothing, even with
// --keep-going.
bool ended_by_itself(const GraphRun& run);

// Sends the failures to the session's events. Returns an error if nothing may be published: `interrupted`,
// `ninja_failed`, `edge_failed` (without --keep-going), those of Session::check.
Result<void> end_run(const GraphRun& run, const Plan& plan, Session& session);
// The error `edge_failed` for a run with failures.
Error edges_failed(const GraphRun& run, const Plan& plan);

// Writes digests and facts to the disk.
void save_what_was_learnt(const GraphRun& run, Session& session);

// Whether an error with this code means that a signal, the caller or a time limit ended the build. Then
// dsbuild does not wait for uploads.
bool was_ended(const std::string& code);

}  // namespace dsbuild
