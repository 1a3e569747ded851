// Where a CUDA toolkit may be. Private to lib/toolkit.
#pragma once

#include <string>
#include <vector>

#include "settings/settings.h"
#include "sys/system.h"

namespace dsbuild {

struct ToolkitCandidate {
  Path home;
  std::string origin;  // as Toolkit::origin
  bool named = false;  // the user named it: worth a word if it is none
};

// In the order of find_toolkits; without looking into the homes, so some may hold no nvcc and some may be
// the same folder.
std::vector<ToolkitCandidate> toolkit_candidates(const Settings& settings, const System& system);

}  // namespace dsbuild
