// The folders of a build's inputs: `dsbuild watch` builds again after a change in one of them.
#pragma once

#include <set>

#include "driver/plan.h"

namespace dsbuild {

// The absolute folders of the pack's specs and sources, and the include folders of its ops. Also those of all
// pack files in the records of the plan's edges.
std::set<Path> folders_of_inputs(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
