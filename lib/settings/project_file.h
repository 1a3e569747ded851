// dsbuild.yaml: a config file with the options of a project. Private to lib/settings.
#pragma once

#include "settings/raw_setting.h"
#include "settings/settings.h"

namespace dsbuild {

inline constexpr const char* k_project_file = "dsbuild.yaml";

struct ProjectFile {
  Path folder;            // its folder, relative to the current one: "", "..", "../.."
  std::string shown;      // "../dsbuild.yaml"
  ConfigEntries entries;  // paths in it are relative to the current folder
};

// Looks for dsbuild.yaml in the current folder and the folders above, up to the root of the repository (a
// folder with .git) or of the disk. Loads the nearest one; nullopt: there is none. The file's owner must be
// this user, root or the owner of the current folder, because anybody may put files into /tmp. dsbuild
// ignores a file of somebody else, with the warning `foreign_config`. Errors: as load_config.
Result<std::optional<ProjectFile>> load_project_file(const FileReader& files, const Path& data_dir,
                                                     std::vector<Warning>& warnings);

}  // namespace dsbuild
