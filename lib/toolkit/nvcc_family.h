// What the row of nvcc is made of. Private to lib/toolkit.
#pragma once

#include "toolkit/family.h"

namespace dsbuild {

// In the order of find_toolkits.
std::vector<ToolkitCandidate> nvcc_candidates(const Settings& settings, const System& system);

// By a dry run, of the compiler with its host compiler.
Result<Paths> nvcc_parts(const Toolkit& toolkit, const Environment& environment, System& system);

}  // namespace dsbuild
