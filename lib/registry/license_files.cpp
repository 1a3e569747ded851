#include "registry/license_files.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace dsbuild {
namespace {

constexpr std::array<std::string_view, 5> k_names = {"LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS"};
constexpr std::array<std::string_view, 4> k_suffixes = {"", ".txt", ".md", ".rst"};
constexpr std::array<std::string_view, 3> k_project_marks = {".git", "pyproject.toml", "setup.py"};

LicenseFiles files_in(const Path& folder, const FileReader& files) {
  LicenseFiles found;
  for (const std::string_view name : k_names) {
    for (const std::string_view suffix : k_suffixes) {
      const std::string file = std::string(name) + std::string(suffix);
      if (files.kind(folder / file) != FileKind::file) continue;
      if (auto text = files.read_file(folder / file)) found.emplace(file, std::move(*text));
    }
  }
  return found;
}

bool is_project(const Path& folder, const FileReader& files) {
  return std::ranges::any_of(
      k_project_marks, [&](std::string_view mark) { return files.kind(folder / mark) != FileKind::absent; });
}

}  // namespace

LicenseFiles find_license_files(const std::vector<Path>& folders, const FileReader& files) {
  for (const Path& folder : folders) {
    LicenseFiles found = files_in(folder, files);
    if (!found.empty()) return found;
  }
  return {};
}

std::vector<Path> license_folders(const Path& sources, const FileReader& files) {
  std::vector<Path> folders;
  for (Path folder = sources;; folder = folder.parent_path()) {
    folders.push_back(folder);
    if (is_project(folder, files)) return folders;
    if (folder == folder.parent_path()) return {sources};
  }
}

}  // namespace dsbuild
