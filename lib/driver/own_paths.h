// Files as the user knows them: commands of a build run in its folder and name sources as pack/…, files of
// toolkits and packages as roots/cuda/….
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "sys/file_system.h"

namespace dsbuild {

class OwnPaths {
 public:
  // `links`: of the build folder, {"pack", source root} among them; `build_dir`: where commands run.
  OwnPaths(const std::vector<std::pair<std::string, Path>>& links, const Path& build_dir,
           const FileReader& files);

  // Relative to the current folder where it lies below that, else absolute. "" stays.
  std::string path(const std::string& file) const;
  // What a tool printed, with each name below a link as the user's.
  std::string text(const std::string& output) const;
  Diagnostic diagnostic(Diagnostic told) const;

 private:
  const std::pair<std::string, Path>* link_at(std::string_view text) const;

  std::vector<std::pair<std::string, Path>> links_;  // "pack/": absolute
  Path build_dir_, current_;
};

}  // namespace dsbuild
