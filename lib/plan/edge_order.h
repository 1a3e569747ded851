// The orders of edges. Ninja starts ready edges in the order of its file, so the longest compiles stand first
// and none is left to run alone at the end. A graph is put in order once, after its last edge was added.
#pragma once

#include <string>
#include <vector>

#include "plan/edge_history.h"

namespace dsbuild {

// Puts compile edges first, the longest ahead. An edge counts with the compiles that wait for it (of a
// precompiled header). The other edges follow in their order.
void put_longest_first(std::vector<Edge>& edges, const EdgeHistory& history, const std::string& pack);

// The order by output, for results that must not depend on how long edges took.
std::vector<const Edge*> edges_by_output(const std::vector<Edge>& edges);

// How many of its archs each nvcc may compile at once so that `jobs` cores are busy although there are fewer
// CUDA edges.
int threads_per_nvcc(const std::vector<Edge>& edges, int jobs);

}  // namespace dsbuild
