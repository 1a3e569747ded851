#include "slices/header_names.h"

#include <algorithm>

#include "base/digest.h"
#include "slices/include_record.h"

namespace dsbuild {
namespace {

constexpr int k_deepest = 16;  // a link may lead back to where it stands

bool is_no_source(const std::string& name) {
  return name.starts_with('.') || name.ends_with('~');
}

}  // namespace

bool is_in_pack(std::string_view path) {
  return path == k_pack_folder || path.starts_with("pack/");
}

std::set<std::string> project_folders(const std::string& source, const std::vector<std::string>& flags) {
  std::set<std::string> folders = {Path(source).parent_path().string()};
  for (const std::string& folder : search_folders(flags))
    if (is_in_pack(folder)) folders.insert(folder);
  return folders;
}

std::string HeaderNames::digest(const std::set<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders)
    text += folder + ":\n" + below(folder).text;
  return sha256(text);
}

int64_t HeaderNames::last_change_ns(const std::set<std::string>& folders) {
  int64_t last = 0;
  for (const std::string& folder : folders)
    last = std::max(last, below(folder).last_change_ns);
  return last;
}

const HeaderNames::Names& HeaderNames::below(const std::string& folder) {
  const auto [known, is_new] = known_.try_emplace(folder);
  if (is_new) list(root_ / Path(folder).lexically_relative(k_pack_folder), k_deepest, known->second);
  return known->second;
}

void HeaderNames::list(const Path& folder, int depth, Names& names) const {
  const auto entries = files_.list(folder);
  if (!entries || std::find(entries->begin(), entries->end(), k_build_folder_marker) != entries->end())
    return;
  if (const auto identity = files_.identity(folder))
    names.last_change_ns = std::max({names.last_change_ns, identity->mtime_ns, identity->ctime_ns});
  for (const std::string& name : *entries) {
    if (is_no_source(name)) continue;
    names.text += name + "\n";
    if (depth == 0 || files_.kind(folder / name) != FileKind::directory) continue;
    names.text += "{\n";
    list(folder / name, depth - 1, names);
    names.text += "}\n";
  }
}

}  // namespace dsbuild
