// Translates paths of the build folder into the user's own. Commands run in the build folder and use names
// like pack/… for sources and roots/cuda/… for files of toolkits and packages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "sys/file_system.h"

namespace dsbuild {

class OwnPaths {
 public:
  // `links`: the links in the build folder, such as {"pack", source root}. `build_dir`: where commands run.
  OwnPaths(const std::vector<std::pair<std::string, Path>>& links, const Path& build_dir,
           const FileReader& files);

  // The user's path: relative if it is below the current folder, else absolute. "" stays "".
  std::string path(const std::string& file) const;
  // A tool's output with the user's path in place of each path through a link.
  std::string text(const std::string& output) const;
  Diagnostic diagnostic(Diagnostic told) const;

 private:
  const std::pair<std::string, Path>* link_at(std::string_view text) const;

  std::vector<std::pair<std::string, Path>> links_;  // name with a slash, absolute target
  Path build_dir_, current_;
};

}  // namespace dsbuild
