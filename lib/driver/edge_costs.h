// What the edges of earlier builds on this machine took: kept in the cache folder, for the order of the next
// build's edges and for how many of them run at once.
#pragma once

#include "driver/plan.h"
#include "sys/memory_gate.h"

namespace dsbuild {

// The costs of the planned edges: from earlier builds, else from their specs, else from the sizes of their
// sources.
EdgeHistory recall_edge_costs(const ArchPlan& archs, const Registry& registry, Session& session);
// Of the edges that ended well and whose tools ran. `uses`: what the gate knows, by output.
void remember_edge_costs(const Plan& plan, const std::vector<FinishedEdge>& finished,
                         const std::map<std::string, GateUse>& uses, Session& session);

}  // namespace dsbuild
