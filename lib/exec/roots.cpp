#include "exec/roots.h"

#include <algorithm>
#include <array>

#include "base/build_layout.h"
#include "base/text.h"

namespace dsbuild {
namespace {

const std::string k_below_roots = std::string(k_roots_folder) + "/";

bool is_of_system(const std::string& folder) {
  if (folder == "/usr" || folder == "/usr/local" || folder == "/" || folder == "/opt") return true;
  return folder.starts_with("/usr/") && !folder.starts_with("/usr/local/") &&
         folder.find("-packages/") == std::string::npos;
}

// Options with the path in the same word.
size_t option_length(std::string_view word) {
  static constexpr std::array<std::string_view, 8> k_options = {
      "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I", "-L", "-B"};
  for (const std::string_view option : k_options)
    if (word.starts_with(option)) return option.size();
  return 0;
}

bool begins_path(std::string_view word, size_t place) {
  return place == 0 || place == option_length(word) ||
         std::string_view("=:").find(word[place - 1]) != std::string_view::npos;
}

// A macro's value is the program's, and a library's search path holds where the library runs.
bool stays(std::string_view word) {
  return word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-Wl,");
}

// The word with `replace(rest, length)` in place of what begins a path, where that gives a text and its
// length.
template <class Replace>
std::string with_paths(const std::string& word, const Replace& replace) {
  std::string changed;
  for (size_t at = 0; at < word.size();) {
    size_t length = 0;
    const std::string text =
        begins_path(word, at) ? replace(std::string_view(word).substr(at), length) : std::string();
    changed += length > 0 ? text : word.substr(at, 1);
    at += std::max<size_t>(length, 1);
  }
  return changed;
}

}  // namespace

void Roots::add(const std::string& name, const std::string& folder) {
  add(name, std::vector<std::string>{folder});
}

void Roots::add(const std::string& name, const std::vector<std::string>& spellings) {
  const bool is_there = std::ranges::any_of(roots_, [&](const Root& root) { return root.name == name; });
  if (is_there || spellings.empty()) return;
  for (const std::string& folder : spellings) {
    if (!folder.starts_with('/') || is_of_system(folder)) return;
    roots_.push_back({name, folder, &folder == &spellings.front()});
  }
  std::ranges::stable_sort(roots_,
                           [](const Root& a, const Root& b) { return a.folder.size() > b.folder.size(); });
}

// The root whose folder the text begins with, as a path or as part of one.
const Roots::Root* Roots::at(std::string_view text) const {
  const auto found = std::ranges::find_if(roots_, [&](const Root& root) {
    return text.starts_with(root.folder) &&
           (text.size() == root.folder.size() ||
            std::string_view("/:").find(text[root.folder.size()]) != std::string_view::npos);
  });
  return found == roots_.end() ? nullptr : &*found;
}

std::string Roots::named(const std::string& word) const {
  if (roots_.empty() || stays(word) || word.find('/') == std::string::npos) return word;
  return with_paths(word, [&](std::string_view rest, size_t& length) {
    const Root* root = at(rest);
    if (!root) return std::string();
    length = root->folder.size();
    return k_below_roots + root->name;
  });
}

std::vector<std::string> Roots::named(std::vector<std::string> words) const {
  for (std::string& word : words)
    word = named(word);
  return words;
}

std::string Roots::named_lines(std::string_view text) const {
  std::vector<std::pair<std::string, std::string>> lines;  // by path
  for (const std::string& line : split_lines(text)) {
    const size_t path = line.find(' ') + 1;  // 0 without a blank: the whole line
    lines.emplace_back(named(line.substr(path)), line.substr(0, path));
  }
  std::ranges::sort(lines);
  std::string changed;
  for (const auto& [path, digest] : lines)
    changed += digest + path + "\n";
  return changed;
}

std::string Roots::real(const std::string& path) const {
  for (const auto& [name, folder] : links())
    if (path.starts_with(name + "/")) return folder.string() + path.substr(name.size());
  return path;
}

std::vector<std::pair<std::string, Path>> Roots::links() const {
  std::vector<std::pair<std::string, Path>> links;
  for (const Root& root : roots_)
    if (root.is_linked) links.emplace_back(k_below_roots + root.name, root.folder);
  std::ranges::sort(links);
  return links;
}

std::string with_absolute_roots(const std::string& word, const Path& here) {
  if (word.find(k_below_roots) == std::string::npos || stays(word)) return word;
  return with_paths(word, [&](std::string_view rest, size_t& length) {
    if (!rest.starts_with(k_below_roots)) return std::string();
    length = k_below_roots.size();
    return (here / k_below_roots).string();
  });
}

}  // namespace dsbuild
