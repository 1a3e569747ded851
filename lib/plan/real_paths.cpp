#include "plan/real_paths.h"

namespace dsbuild {

std::string RealPaths::path(const std::string& path) const {
  for (const auto& [name, folder] : folders_) {
    if (path == name) return folder.string();
    if (path.starts_with(name + "/")) return (folder / path.substr(name.size() + 1)).string();
  }
  return path;
}

std::string RealPaths::word(const std::string& word) const {
  for (const std::string option : {"-I", "-L"})
    if (word.starts_with(option)) return option + path(word.substr(option.size()));
  return path(word);
}

}  // namespace dsbuild
