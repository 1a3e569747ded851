#include "registry/source_files.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace dsbuild {
namespace {

bool has_wildcard(std::string_view part) {
  return part.find_first_of("*?") != std::string_view::npos;
}

// Greedy, with one point to go back to (the last '*'): linear in practice, never recursive.
bool matches_wildcards(std::string_view pattern, std::string_view name) {
  size_t at = 0, star = std::string_view::npos, resume = 0, p = 0;
  while (at < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = at;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[at])) {
      ++p;
      ++at;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_part(std::string_view pattern, std::string_view name) {
  const bool hidden = !name.empty() && name[0] == '.';
  if (hidden && pattern[0] != '.') return false;
  return matches_wildcards(pattern, name);
}

std::string below(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

constexpr std::string_view k_any_folders = "**";

// Links are not followed: they may lead back.
void add_folders(const SourceTree& tree, const std::string& folder, std::vector<std::string>& into) {
  into.push_back(folder);
  for (const std::string& name : tree.files.list(tree.root / folder).value_or(std::vector<std::string>{}))
    if (!name.starts_with('.') && tree.files.own_kind(tree.root / below(folder, name)) == FileKind::directory)
      add_folders(tree, below(folder, name), into);
}

// The names that one part of a glob stands for, in one folder.
std::vector<std::string> part_matches(const SourceTree& tree, const std::string& folder,
                                      const std::string& part) {
  std::vector<std::string> matches;
  if (part == k_any_folders) {
    add_folders(tree, folder, matches);
    return matches;
  }
  if (!has_wildcard(part)) return {below(folder, part)};
  for (const std::string& name : tree.files.list(tree.root / folder).value_or(std::vector<std::string>{})) {
    if (matches_part(part, name)) matches.push_back(below(folder, name));
  }
  return matches;
}

// Folders and files below the root, nearest to it first; a root with very many is not searched to its end.
std::vector<std::string> paths_below(const SourceTree& tree, FileKind wanted) {
  constexpr size_t k_most = 10'000;
  std::vector<std::string> folders = {""}, paths;
  for (size_t i = 0, seen = 0; i < folders.size() && seen < k_most; ++i) {
    const std::string folder = folders[i];
    for (const std::string& name : tree.files.list(tree.root / folder).value_or(std::vector<std::string>{})) {
      const std::string path = below(folder, name);
      const FileKind kind = tree.files.own_kind(tree.root / path);
      ++seen;
      if (name.starts_with('.')) continue;
      if (kind == FileKind::directory) folders.push_back(path);
      if (kind == wanted) paths.push_back(path);
    }
  }
  return paths;
}

// What is there and was likely meant: of this name in another folder, else of nearly this name; "": nothing.
std::string nearest_path(const SourceTree& tree, const std::string& path, FileKind wanted) {
  const std::vector<std::string> paths = paths_below(tree, wanted);
  const auto same_name = [&](const std::string& other) {
    return Path(other).filename() == Path(path).filename();
  };
  const auto found = std::ranges::find_if(paths, same_name);
  return found == paths.end() ? nearest(path, paths) : *found;
}

bool is_inside(const Path& real_root, const Path& real_path) {
  const auto [root_end, ignored] =
      std::mismatch(real_root.begin(), real_root.end(), real_path.begin(), real_path.end());
  return root_end == real_root.end();
}

}  // namespace

Result<void> check_on_disk(const SpecFile& file, const YamlNode& at, const std::string& path,
                           FileKind wanted) {
  const Path looked_for = file.tree.root / path;
  const FileKind kind = file.tree.files.kind(looked_for);
  if (kind == FileKind::absent) {
    const std::string there = nearest_path(file.tree, path, wanted);
    return fail(Exit::usage, "missing_source", yaml_where(file.shown, at),
                "'" + path + "' is not there" + (there.empty() ? "" : " (did you mean '" + there + "'?)"),
                "Paths are relative to the pack's source root, " + file.tree.root.string() + ".");
  }
  if (kind != wanted) {
    const std::string noun = wanted == FileKind::directory ? "a folder" : "a regular file";
    return bad_spec(file, at, "'" + path + "' is not " + noun);
  }
  const auto real = file.tree.files.real_path(looked_for);
  if (real && is_inside(file.tree.real_root, *real)) return {};
  return bad_spec(file, at, "'" + path + "' is a link to outside the source root");
}

Result<std::vector<std::string>> expand_glob(const SpecFile& file, const YamlNode& at,
                                             const std::string& glob) {
  std::vector<std::string> found = {""};
  for (const std::string& part : split(glob, "/")) {
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      for (std::string& match : part_matches(file.tree, folder, part))
        next.push_back(std::move(match));
    }
    found = std::move(next);
  }
  const auto is_no_file = [&](const std::string& path) {
    return file.tree.files.kind(file.tree.root / path) != FileKind::file;
  };
  found.erase(std::remove_if(found.begin(), found.end(), is_no_file), found.end());
  std::ranges::sort(found);
  // Not std::ranges::unique, whose result clang 14 cannot take from gcc 12's library.
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (!found.empty()) return found;
  return fail(Exit::usage, "missing_source", yaml_where(file.shown, at), "no file matches '" + glob + "'",
              "Globs are relative to the pack's source root, " + file.tree.root.string() + ".");
}

}  // namespace dsbuild
