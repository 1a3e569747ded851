// BuildPlan -> a build.ninja of the compilers' own commands, for other tools: no dsbuild runs in it, so
// nothing is sliced, kept, verified or noted but what depfiles say. Pure.
#pragma once

#include <string>

#include "plan/slice_edges.h"

namespace dsbuild {

// Runs in any folder with the plan's links (`pack`, `roots/cuda`); its head says the commands for that.
// `commands`: those that slices of the plan stand for. Errors: those of render_ninja.
Result<std::string> render_plain_ninja(const BuildPlan& plan, const std::vector<SlicedCommand>& commands);

}  // namespace dsbuild
