// Which files there are where a preprocessor looks for headers. A depfile names those that were read; that a
// new one stands earlier in the search is seen by its name alone.
#pragma once

#include <cstdint>
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

// Whether a path, as a command in a build folder names it, lies below that.
bool is_in_pack(std::string_view path);

// A file in each build folder.
inline constexpr const char* k_build_folder_marker = "dsbuild-build-folder";

class HeaderNames {
 public:
  // `root` is what "pack" stands for in a folder's name.
  HeaderNames(Path root, const FileReader& files) : root_(std::move(root)), files_(files) {}

  // A digest of the names of all files below the folders. Hidden ones, and editors' copies (x.h~), are none;
  // nor is what lies in build folders.
  std::string digest(const std::set<std::string>& folders);
  // When a name was last added or taken away below one of them, by the file system's clock; 0: nothing is
  // there.
  int64_t last_change_ns(const std::set<std::string>& folders);

 private:
  struct Names {
    std::string text;
    int64_t last_change_ns = 0;
  };
  const Names& below(const std::string& folder);
  void list(const Path& folder, int depth, Names& names) const;

  Path root_;
  const FileReader& files_;
  std::map<std::string, Names> known_;  // by folder
};

}  // namespace dsbuild
