// BuildPlan -> the text of build.ninja. Pure. Each gencode pair is a variable (`sm_70 = …`), and so is the
// set that all CUDA ops share (`shared = …`). An op with a larger set names `$shared` and its extras, and is
// marked `# extra: …`.
#pragma once

#include <string>

#include "plan/build_plan.h"

namespace dsbuild {

// Errors: exit 2 `bad_name` for a path or word that a Ninja file cannot contain.
Result<std::string> render_ninja(const BuildPlan& plan);

}  // namespace dsbuild
