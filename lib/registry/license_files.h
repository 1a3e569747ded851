// Finds the licence texts that accompany the libraries built from a pack's sources.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

using LicenseFiles = std::map<std::string, std::string>;  // name -> text: "LICENSE", "NOTICE.txt"

// The files of the first folder that has any: LICENSE, LICENCE, COPYING, NOTICE and AUTHORS, without suffix
// or with .txt, .md, .rst.
LicenseFiles find_license_files(const std::vector<Path>& folders, const FileReader& files);

// The folders to search for the licence of sources: their own, then those above it, up to the root of a
// project (it has .git, pyproject.toml or setup.py). If there is no such root, their own folder alone.
std::vector<Path> license_folders(const Path& sources, const FileReader& files);

}  // namespace dsbuild
