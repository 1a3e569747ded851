#include "settings/project_file.h"

#include <algorithm>

#include "settings/options.h"

namespace dsbuild {
namespace {

// Relative to the current folder, so that messages name it as a user would.
std::optional<Path> find_folder(const FileReader& files) {
  const Path current = files.absolute(".");
  Path relative;
  for (Path folder = current;; folder = folder.parent_path()) {
    if (files.kind(relative / k_project_file) == FileKind::file) return relative;
    if (files.kind(relative / ".git") != FileKind::absent || folder == folder.root_path())
      return std::nullopt;
    relative /= "..";
  }
}

bool is_trusted(const Path& file, const FileReader& files) {
  const auto owner = files.owner(file);
  const auto is_of = [&](const char* path) { return files.owner(path) == owner; };
  return owner == 0U || is_of("/proc/self") || is_of(".");
}

// A program may be one of PATH, a pack one of dsbuild's own.
bool names_a_path(const Option& option, const std::string& text, const Path& folder, const Path& data_dir,
                  const FileReader& files) {
  const std::vector<std::string> kinds = split(option.type, "|");
  const auto takes = [&](const char* kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  };
  if (text.find('/') != std::string::npos) return takes("DIR") || takes("FILE");
  if (option.name() != "--pack") return takes("DIR");
  const auto is_folder = [&](const Path& path) { return files.kind(path) == FileKind::directory; };
  return !is_folder(data_dir / "ops" / text) && is_folder(folder / text);
}

std::string from_here(const Option& option, const std::string& text, const Path& folder, const Path& data_dir,
                      const FileReader& files) {
  if (folder.empty() || text.empty()) return text;
  if (option.name() == "--ops" && text.front() == '@')
    return "@" + (folder / text.substr(1)).lexically_normal().string();
  if (!names_a_path(option, text, folder, data_dir, files)) return text;
  const Path path = (folder / text).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).string();
}

}  // namespace

Result<std::optional<ProjectFile>> load_project_file(const FileReader& files, const Path& data_dir,
                                                     std::vector<Warning>& warnings) {
  const auto folder = find_folder(files);
  if (!folder) return std::nullopt;
  const Path file = *folder / k_project_file;
  if (!is_trusted(file, files)) {
    warnings.push_back(
        warning("foreign_config", file.string(), "it belongs to another user, so it is not read",
                "To read it: --config " + shell_quote((folder->empty() ? "./" : "") + file.string()) +
                    ". To say nothing of it: --no-config."));
    return std::nullopt;
  }
  DSBUILD_TRY(entries, read_config_file(file, file.string(), files));
  for (const Option& option : options()) {
    const auto entry = entries.find(option.setting);
    if (entry != entries.end())
      entry->second.text = from_here(option, entry->second.text, *folder, data_dir, files);
  }
  return ProjectFile{*folder, file.string(), std::move(entries)};
}

}  // namespace dsbuild
