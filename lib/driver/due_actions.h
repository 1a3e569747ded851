// Finds the actions of a plan that have to run, and why: those whose records are stale
// (lib/exec/staleness.h).
#pragma once

#include <map>
#include <string>

#include "driver/plan.h"
#include "driver/session.h"
#include "exec/staleness.h"
#include "plan/forecast.h"

namespace dsbuild {

// An edge's output -> the first difference from its record.
using DueActions = std::map<std::string, Change>;

// Checks the records of `graph` in the plan's build folder. `graph` is the plan's own or one for the same
// folder, such as the comparison with nvcc.
DueActions find_due_actions(const Plan& plan, const BuildPlan& graph, System& system, DigestMemo& digests);
// Requests all results for these actions from the session's shared cache at once, so that no step has to wait
// for it. Returns why results are still missing.
RemoteMisses fetch_what_is_due(const DueActions& due, const Plan& plan, const BuildPlan& graph,
                               Session& session);
// Removes the actions from `due` that stay stale whenever they run, and returns them. Their sources read
// files that no compiler names, or the time of the build.
DueActions take_incomplete(DueActions& due);
// One warning for each of their sources or libraries.
std::vector<Warning> warnings_of_incomplete(const DueActions& incomplete);

// Renames the records of these actions to `.stale`, so that Ninja runs them.
Result<void> take_records_away(const DueActions& due, const Path& build_dir, FileSystem& files);

// Adds to each reason why the shared cache had no result.
PendingEdges with_misses(PendingEdges reasons, const RemoteMisses& misses);

// The reasons in words, for these edges and for those that use their outputs.
PendingEdges reasons_of(const DueActions& due, const BuildPlan& graph);

// The edges that the next build would run, and why. Writes only lists (lib/exec/lists.h). Errors: those of
// lock_if_built.
Result<PendingEdges> find_pending_edges(const Plan& plan, Session& session);

// The expected time and memory of those edges. If they are unknown (nothing was built yet, or a second
// dsbuild builds), the forecast is for all edges.
Forecast forecast_of(const Plan& plan, Session& session);

}  // namespace dsbuild
