#include "build/own_paths.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_pack = "pack/";

// Whether a name may begin behind this character.
bool ends_word(char c) {
  return std::string_view(" \t\n\"'`(<[,=:").find(c) != std::string_view::npos ||
         static_cast<unsigned char>(c) >= 0x80;  // gcc's quotes
}

}  // namespace

OwnPaths::OwnPaths(const Path& source_root, const Path& build_dir, const FileReader& files)
    : source_root_(files.absolute(source_root)),
      build_dir_(files.absolute(build_dir)),
      current_(files.absolute(".")) {}

std::string OwnPaths::path(const std::string& file) const {
  if (file.empty()) return file;
  const Path whole = file.starts_with(k_pack) ? source_root_ / file.substr(k_pack.size()) : build_dir_ / file;
  return path_below(current_, whole).value_or(whole).string();
}

std::string OwnPaths::text(const std::string& output) const {
  const std::string own = path(std::string(k_pack));
  std::string text;
  size_t begin = 0;
  for (size_t at = output.find(k_pack); at != std::string::npos; at = output.find(k_pack, at + 1)) {
    if (at > 0 && !ends_word(output[at - 1])) continue;
    text += output.substr(begin, at - begin) + own;
    begin = at + k_pack.size();
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
