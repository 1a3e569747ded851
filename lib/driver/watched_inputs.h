// The folders of a build's inputs: `dsbuild watch` builds again after a change in one of them.
#pragma once

#include <set>

#include "driver/plan.h"

namespace dsbuild {

// The absolute folders of a plan's specs and sources, of all project files in the records of its edges, and
// those in which compilers searched for headers.
std::set<Path> folders_of_inputs(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
