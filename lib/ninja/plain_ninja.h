// BuildPlan -> a build.ninja with the compilers' own commands, for other tools. It starts no dsbuild, so it
// has no slices, no cache, no verification and no records; only depfiles tell dependencies. Pure.
#pragma once

#include <string>

#include "plan/slice_edges.h"

namespace dsbuild {

// The file works in any folder with the plan's links (`pack`, `roots/cuda`); its first lines have the
// commands that make these. `commands`: the whole commands that slices of the plan replace. Errors: those of
// render_ninja.
Result<std::string> render_plain_ninja(const BuildPlan& plan, const std::vector<SlicedCommand>& commands);

}  // namespace dsbuild
