// What a user edits of a build: the folders in which a change may mean that there is something to build.
#pragma once

#include <set>

#include "driver/plan.h"

namespace dsbuild {

// Those of a plan, absolute: where its specs, its sources and all files of the project that its edges read
// lie, by their records, and where names of headers were looked for.
std::set<Path> folders_of_inputs(const Plan& plan, const FileReader& files);

}  // namespace dsbuild
