// Which actions of a plan are due, and why: what the one judge (lib/exec/staleness.h) says of each record.
#pragma once

#include <map>
#include <string>

#include "driver/plan.h"
#include "driver/session.h"
#include "exec/staleness.h"
#include "plan/forecast.h"

namespace dsbuild {

// An edge's output -> what is no longer as its record says.
using DueActions = std::map<std::string, Change>;

// Of a graph, the plan's or one that goes with it, in the build folder of an earlier build.
DueActions find_due_actions(const Plan& plan, const BuildPlan& graph, System& system, DigestMemo& digests);
// Asks the session's shared cache for all that they need, at once, so that no step has to wait for it. Why it
// does not have what is still not here.
RemoteMisses fetch_what_is_due(const DueActions& due, const Plan& plan, const BuildPlan& graph,
                               Session& session);
// Takes those out that no tool can make so that they are not due: what reads files that no compiler names.
DueActions take_incomplete(DueActions& due);
// One for each source of theirs.
std::vector<Warning> warnings_of_incomplete(const DueActions& incomplete);

// Takes the records of what is due away, so that Ninja must run it.
Result<void> take_records_away(const DueActions& due, const Path& build_dir, FileSystem& files);

// The same reasons, with why the shared cache did not help.
PendingEdges with_misses(PendingEdges reasons, const RemoteMisses& misses);

// The reasons in words, for the due edges and for those that use their outputs.
PendingEdges reasons_of(const DueActions& due, const BuildPlan& graph);

// What the next build would run, and why. Nothing is written but
// lists (lib/exec/lists.h). Errors: those of lock_if_built.
Result<PendingEdges> find_pending_edges(const Plan& plan, Session& session);

// How long that takes; where it cannot be told (nothing was built yet, another dsbuild builds), of
// everything.
Forecast forecast_of(const Plan& plan, Session& session);

}  // namespace dsbuild
