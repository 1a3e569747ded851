// BuildPlan -> the text of build.ninja. Pure.
// Each gencode pair is defined once (`sm_70 = …`), and the set that all CUDA ops share once (`shared = …`).
// An op with a larger set names `$shared` and its extras, and is marked `# extra: …`.
#pragma once

#include <string>

#include "plan/build_plan.h"

namespace dsbuild {

// Errors: exit 2 `bad_name` for a path or word that Ninja cannot carry.
Result<std::string> render_ninja(const BuildPlan& plan);

}  // namespace dsbuild
