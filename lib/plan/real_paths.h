// Translates the file names in a plan's commands to real paths, for use outside the build folder.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace dsbuild {

class RealPaths {
 public:
  // The folder of each name with which a command may begin a path: {"pack", source root}, {"roots/cuda", …}.
  explicit RealPaths(std::vector<std::pair<std::string, Path>> folders) : folders_(std::move(folders)) {}

  std::string path(const std::string& path) const;
  // A path, or an option with one in it (-I, -L).
  std::string word(const std::string& word) const;

 private:
  std::vector<std::pair<std::string, Path>> folders_;
};

}  // namespace dsbuild
