// Finds the folders that a header or library requirement searches first: its `root` and its `package`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "requirements/probe.h"

namespace dsbuild {

// The existing folders, absolute, those of `root` before those of `package`.
std::vector<std::string> include_places(const ProbeInput& input);
// The name of such a folder in a build folder: the package's, or the variable's.
std::map<std::string, std::string> roots_of_places(const ProbeInput& input);
// Those that contain the library.
std::vector<std::string> library_places(const ProbeInput& input);

}  // namespace dsbuild
