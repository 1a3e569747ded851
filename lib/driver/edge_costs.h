// The times and memory of edges in earlier builds on this machine, stored in the cache folder. The next build
// uses them for the order of its edges, and for how many run at once.
#pragma once

#include "driver/plan.h"
#include "sys/memory_gate.h"

namespace dsbuild {

// The costs of the planned edges: from earlier builds, else from their specs, else from the sizes of their
// sources.
EdgeHistory recall_edge_costs(const ArchPlan& archs, const Registry& registry, Session& session);
// Stores the costs of the edges that succeeded and whose tools ran. `uses`: what the memory gate has
// measured, by output.
void remember_edge_costs(const Plan& plan, const std::vector<FinishedEdge>& finished,
                         const std::map<std::string, GateUse>& uses, Session& session);

}  // namespace dsbuild
