// Which files there are where a preprocessor looks for headers. A depfile names those that were read; that a
// new one stands earlier in the search is seen by its name alone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sys/file_system.h"

namespace dsbuild {

// The project's own folders of a compile command: the source's, and those of -I and the like, as the command
// names them ("pack/include"). Toolkits' and packages' folders stand for themselves.
std::set<std::string> project_folders(const std::string& source, const std::vector<std::string>& flags);

// What stands for the source root in a build folder.
inline constexpr const char* k_pack_folder = "pack";

class HeaderNames {
 public:
  // `root` is what "pack" stands for in a folder's name.
  HeaderNames(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}

  // A digest of the names of all files below the folders. Hidden ones, and editors' copies (x.h~), are none.
  std::string digest(const std::set<std::string>& folders);

 private:
  const std::string& below(const std::string& folder);
  std::string list(const Path& folder, int depth) const;

  Path root_;
  const FileReader& files_;
  std::map<std::string, std::string> known_;  // by folder
};

}  // namespace dsbuild
