// dsbuild.yaml: a config file with the options of a project. Private to this stage.
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

// Loads the nearest one, from the current folder up to the root of the repository (a folder with .git) or of
// the disk; nullopt: there is none. Anybody may put files into /tmp, so its owner must be this user, root or
// the owner of the current folder. A file of somebody else is ignored, with the warning `foreign_config`.
// Errors: as load_config.
Result<std::optional<ProjectFile>> load_project_file(const FileReader& files, const Path& data_dir,
                                                     std::vector<Warning>& warnings);

}  // namespace dsbuild
