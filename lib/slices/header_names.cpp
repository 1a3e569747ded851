#include "slices/header_names.h"

#include "base/digest.h"
#include "slices/include_record.h"

namespace dsbuild {
namespace {

constexpr int k_deepest = 16;  // a link may lead back to where it stands

bool is_in_pack(std::string_view folder) {
  return folder == k_pack_folder || folder.starts_with("pack/");
}

bool is_no_source(const std::string& name) {
  return name.starts_with('.') || name.ends_with('~');
}

}  // namespace

std::set<std::string> project_folders(const std::string& source, const std::vector<std::string>& flags) {
  std::set<std::string> folders = {Path(source).parent_path().string()};
  for (const std::string& folder : search_folders(flags))
    if (is_in_pack(folder)) folders.insert(folder);
  return folders;
}

std::string HeaderNames::digest(const std::set<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders)
    text += folder + ":\n" + below(folder);
  return sha256(text);
}

const std::string& HeaderNames::below(const std::string& folder) {
  const auto [known, is_new] = known_.try_emplace(folder);
  if (is_new) known->second = list(root_ / Path(folder).lexically_relative(k_pack_folder), k_deepest);
  return known->second;
}

std::string HeaderNames::list(const Path& folder, int depth) const {
  const auto names = files_.list(folder);
  if (!names) return "";
  std::string text;
  for (const std::string& name : *names) {
    if (is_no_source(name)) continue;
    text += name + "\n";
    if (depth > 0 && files_.kind(folder / name) == FileKind::directory)
      text += "{\n" + list(folder / name, depth - 1) + "}\n";
  }
  return text;
}

}  // namespace dsbuild
