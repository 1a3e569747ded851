// Where a header or library requirement says to look first: its `root` and its `package`.
#pragma once

#include <string>
#include <vector>

#include "requirements/probe.h"

namespace dsbuild {

// Absolute folders that are there, those of `root` before those of `package`.
std::vector<std::string> include_places(const ProbeInput& input);
// Those that hold the library.
std::vector<std::string> library_places(const ProbeInput& input);

}  // namespace dsbuild
