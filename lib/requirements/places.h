// Where a header or library requirement says to look first: its `root` and its `package`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "requirements/probe.h"

namespace dsbuild {

// Absolute folders that are there, those of `root` before those of `package`.
std::vector<std::string> include_places(const ProbeInput& input);
// Under what name a build folder has them: the package's, or the variable's.
std::map<std::string, std::string> roots_of_places(const ProbeInput& input);
// Those that hold the library.
std::vector<std::string> library_places(const ProbeInput& input);

}  // namespace dsbuild
