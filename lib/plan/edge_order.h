// The order of the compile edges. Ninja starts what is ready in the order of its file, so the longest stand
// first and none is left to run alone at the end.
#pragma once

#include <string>
#include <vector>

#include "plan/edge_history.h"

namespace dsbuild {

// The compile edges, the longest first, with what waits for them (a header that is precompiled for others);
// behind them the others in their order.
void put_longest_first(std::vector<Edge>& edges, const EdgeHistory& history, const std::string& pack);

// How many of its archs each nvcc may compile at once so that `jobs` cores are busy although there are fewer
// CUDA edges.
int threads_per_nvcc(const std::vector<Edge>& edges, int jobs);

}  // namespace dsbuild
