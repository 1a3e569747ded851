#include "driver/own_paths.h"

#include <algorithm>

namespace dsbuild {
namespace {

// Whether a name may begin behind this character.
bool ends_word(char c) {
  return std::string_view(" \t\n\"'`(<[,=:").find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 0x80;  // gcc's quotes
}

}  // namespace

OwnPaths::OwnPaths(const std::vector<std::pair<std::string, Path>>& links, const Path& build_dir,
                   const FileReader& files)
    : build_dir_(files.absolute(build_dir)), current_(files.absolute(".")) {
  for (const auto& [name, target] : links)
    links_.emplace_back(name + "/", files.absolute(target));
}

const std::pair<std::string, Path>* OwnPaths::link_at(std::string_view text) const {
  const auto found =
      std::ranges::find_if(links_, [&](const auto& link) { return text.starts_with(link.first); });
  return found == links_.end() ? nullptr : &*found;
}

std::string OwnPaths::path(const std::string& file) const {
  if (file.empty()) return file;
  const auto* link = link_at(file);
  const Path whole = link ? link->second / file.substr(link->first.size()) : build_dir_ / file;
  return path_below(current_, whole).value_or(whole).string();
}

std::string OwnPaths::text(const std::string& output) const {
  std::string text;
  size_t begin = 0;
  for (size_t at = 0; at < output.size(); ++at) {
    if (at > 0 && !ends_word(output[at - 1])) continue;
    const auto* link = link_at(std::string_view(output).substr(at));
    if (!link) continue;
    const std::string folder = path(link->first);
    text += output.substr(begin, at - begin) + (folder == "." ? "" : folder);
    begin = at + link->first.size();
  }
  return text + output.substr(begin);
}

Diagnostic OwnPaths::diagnostic(Diagnostic told) const {
  told.place.file = path(told.place.file);
  told.message = text(told.message);
  told.text = text(told.text);
  return told;
}

}  // namespace dsbuild
