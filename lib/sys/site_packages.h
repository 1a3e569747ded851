// Where Python packages lie, found without starting Python.
#pragma once

#include <vector>

#include "sys/system.h"

namespace dsbuild {

// Existing folders, in this order: of $VIRTUAL_ENV, $CONDA_PREFIX, ~/.local, the prefix that this program is
// installed in (a virtual environment need not be active), /usr/local, /usr and the prefix of `python` (a
// path, or a name on PATH); within one prefix the highest Python version first.
std::vector<Path> find_site_packages(const System& system, const std::string& python);
// Those of that interpreter's prefix alone.
std::vector<Path> site_packages_of(const System& system, const std::string& python);

// Names in `folder`, by the version that follows `prefix` in them, highest first; empty if there is
// no such folder.
std::vector<std::string> by_version(const FileReader& files, const Path& folder, const std::string& prefix);

}  // namespace dsbuild
