// How long the compile edges of earlier builds on this machine took: kept in the cache folder, for the order
// of the next build's edges.
#pragma once

#include "ninja/ninja_run.h"
#include "stages.h"

namespace dsbuild {

// What is known of the planned sources: the times of earlier builds, else what their specs say, else their
// sizes.
EdgeTimes recall_edge_times(const Stages& stages, std::set<std::string> torch_sources,
                            const FileReader& files);
// Of the compile edges that ended well.
void remember_edge_times(const Stages& stages, const std::vector<FinishedEdge>& finished,
                         const FileReader& files);

}  // namespace dsbuild
