// dsbuild.yaml: the options of a project, as a config file has them, found from the current folder.
// Private to this stage.
#pragma once

#include "settings/raw_setting.h"
#include "settings/settings.h"

namespace dsbuild {

inline constexpr const char* k_project_file = "dsbuild.yaml";

struct ProjectFile {
  Path folder;            // where it lies, relative to the current one: "", "..", "../.."
  std::string shown;      // "../dsbuild.yaml"
  ConfigEntries entries;  // paths in it are relative to the current folder
};

// The nearest, from the current folder up to the root of its repository (a folder with .git) or of the disk;
// nullopt: there is none. One that belongs to neither this user, root nor whose folder we are in is not read,
// with the warning `foreign_config`: anybody may put files into /tmp. Errors: as load_config.
Result<std::optional<ProjectFile>> load_project_file(const FileReader& files, const Path& data_dir,
                                                     std::vector<Warning>& warnings);

}  // namespace dsbuild
