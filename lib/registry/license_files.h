// The texts of licences that go along with what is built from a pack's sources.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

using LicenseFiles = std::map<std::string, std::string>;  // name -> text: "LICENSE", "NOTICE.txt"

// Those of the first of these folders that has any: LICENSE, LICENCE, COPYING, NOTICE and AUTHORS, as they
// are or with .txt, .md, .rst.
LicenseFiles find_license_files(const std::vector<Path>& folders, const FileReader& files);

// Where the licence of sources lies: their own folder, then those above it, up to the first that is a
// project's (it has .git, pyproject.toml or setup.py). Where none is, their own folder alone.
std::vector<Path> license_folders(const Path& sources, const FileReader& files);

}  // namespace dsbuild
