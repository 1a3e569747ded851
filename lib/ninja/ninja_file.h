// BuildPlan -> the text of build.ninja. Pure.
#pragma once

#include <string>

#include "plan/build_plan.h"

namespace dsbuild {

std::string render_ninja(const BuildPlan& plan);

}  // namespace dsbuild
