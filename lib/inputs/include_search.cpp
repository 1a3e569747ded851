#include "inputs/include_search.h"

#include <algorithm>
#include <array>

#include "base/build_layout.h"
#include "base/text.h"
#include "inputs/path_origin.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_blanks = " \t\r\v\f";
constexpr std::string_view k_has = "__has_";
constexpr std::string_view k_other = "! ", k_unreadable = "? ", k_order = "# ";
constexpr int k_deepest = 16;  // a link may lead back to where it stands

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Reads directives without a lexer: what looks like one in a comment or a string only adds a name.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  LookedFor scan() {
    for (const std::string_view word : {"include", "import", "embed"})
      for (size_t at = text_.find(word); at != std::string_view::npos; at = text_.find(word, at + 1))
        take(word, at);
    if (found_.asks) take_names_of_directives();
    return std::move(found_);
  }

 private:
  void take(std::string_view word, size_t at) {
    size_t end = at + word.size();
    if (text_.substr(end).starts_with("_next")) end += 5;
    if (text_.substr(end).starts_with("__")) end += 2;
    const bool asks = word != "import" && text_.substr(0, at).ends_with(k_has);
    if (asks) at -= k_has.size();
    if ((at > 0 && is_of_name(text_[at - 1])) || (end < text_.size() && is_of_name(text_[end]))) return;
    if (!asks && !is_directive(at)) return;
    found_.asks = found_.asks || asks;
    end = behind_blanks(end);
    if (asks && end < text_.size() && text_[end] == '(') end = behind_blanks(end + 1);
    const std::string name = name_at(end);
    if (name.empty())
      found_.is_computed = true;
    else
      found_.names.insert(name);
  }

  // Whether "#", "%:" or "??=" stands before, on the same line.
  bool is_directive(size_t at) const {
    while (at > 0) {
      const char c = text_[at - 1];
      const bool is_splice = c == '\n' && at > 1 && text_[at - 2] == '\\';
      if (k_blanks.find(c) == std::string_view::npos && c != '\\' && !is_splice)
        return c == '#' || c == ':' || c == '=' || c == '/';
      --at;
    }
    return false;
  }

  // Blanks, joined lines and comments.
  size_t behind_blanks(size_t at) const {
    while (at < text_.size()) {
      const std::string_view rest = text_.substr(at);
      if (k_blanks.find(rest[0]) != std::string_view::npos)
        ++at;
      else if (rest.starts_with("\\\n"))
        at += 2;
      else if (rest.starts_with("\\\r\n"))
        at += 3;
      else if (rest.starts_with("/*"))
        at = std::min(text_.find("*/", at + 2), text_.size() - 2) + 2;
      else
        break;
    }
    return at;
  }

  // Of <x.h> or "x.h"; "" of anything else.
  std::string name_at(size_t at) const {
    if (at >= text_.size() || (text_[at] != '<' && text_[at] != '"')) return "";
    const size_t end = text_.find_first_of(text_[at] == '<' ? ">\n" : "\"\n", at + 1);
    if (end == std::string_view::npos || text_[end] == '\n') return "";
    return std::string(text_.substr(at + 1, end - at - 1));
  }

  // Macros hand names to __has_include: those in any directive count.
  void take_names_of_directives() {
    for (size_t begin = 0; begin < text_.size();) {
      size_t end = text_.find('\n', begin);
      while (end != std::string_view::npos && end > 0 && text_[end - 1] == '\\')
        end = text_.find('\n', end + 1);
      end = std::min(end, text_.size());
      const size_t first = text_.find_first_not_of(k_blanks, begin);
      if (first < end && text_[first] == '#') take_names_between(first, end);
      begin = end + 1;
    }
  }

  void take_names_between(size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) {
      const std::string name = name_at(at);
      if (name.empty() || name.find_first_of(" \t()=&|;,") != std::string::npos) continue;
      found_.names.insert(name);
      at += name.size() + 1;
    }
  }

  std::string_view text_;
  LookedFor found_;
};

std::string first_of_path(const std::string& name) {
  return name.substr(0, name.find('/'));
}

constexpr std::array<std::string_view, 2> k_precompiled_ends = {".gch", ".pch"};

// The header's name; "" of what is not precompiled.
std::string_view without_precompiled_end(std::string_view name) {
  for (const std::string_view end : k_precompiled_ends)
    if (name.size() > end.size() && name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return {};
}

bool is_below_folder(const std::string& name) {
  return !name.starts_with('/') && !name.starts_with("./") && !name.starts_with("../");
}

}  // namespace

LookedFor names_looked_for(std::string_view text) {
  return Scanner(text).scan();
}

std::string render_search(const NameSearch& search) {
  std::string text = search.all ? "all\n" : "";
  for (const std::string& folder : search.folders)
    text += "folder " + folder + "\n";
  for (const std::string& name : search.names)
    if (name.find('\n') == std::string::npos) text += "name " + name + "\n";
  return text;
}

NameSearch parse_search(std::string_view text) {
  NameSearch search;
  for (const std::string& line : split_lines(text)) {
    if (line == "all") search.all = true;
    if (line.starts_with("folder ")) search.folders.push_back(line.substr(7));
    if (line.starts_with("name ")) search.names.insert(line.substr(5));
  }
  return search;
}

std::vector<std::string> search_folders(const std::vector<std::string>& command) {
  static const std::vector<std::string> options = {"-isystem", "-iquote", "-idirafter", "-I", "-L"};
  std::vector<std::string> folders;
  for (size_t i = 0; i < command.size(); ++i) {
    for (const std::string& option : options) {
      if (!command[i].starts_with(option)) continue;
      const std::string value = command[i].substr(option.size());
      if (!value.empty())
        folders.push_back(value);
      else if (i + 1 < command.size())
        folders.push_back(command[i + 1]);
      break;
    }
  }
  return folders;
}

std::vector<std::string> forced_headers(const std::vector<std::string>& command) {
  std::vector<std::string> headers;
  for (size_t i = 0; i < command.size(); ++i)
    for (const std::string_view option : {"-include", "-imacros"}) {
      if (!command[i].starts_with(option)) continue;
      const size_t begin = option.size() + (command[i].substr(option.size()).starts_with('=') ? 1 : 0);
      if (begin < command[i].size())
        headers.push_back(command[i].substr(begin));
      else if (i + 1 < command.size())
        headers.push_back(command[i + 1]);
    }
  return headers;
}

std::set<std::string> library_names(const std::vector<std::string>& command) {
  std::set<std::string> names;
  for (const std::string& word : command) {
    if (word.starts_with("-l:")) {
      names.insert(word.substr(3));
    } else if (word.starts_with("-l") && word.size() > 2) {
      names.insert("lib" + word.substr(2) + ".so");
      names.insert("lib" + word.substr(2) + ".a");
    }
  }
  return names;
}

std::string path_in(const std::string& folder, const std::string& name) {
  if (folder.empty() || name.starts_with('/')) return name;
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

bool is_precompiled_header(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view folder = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  return !without_precompiled_end(path).empty() || !without_precompiled_end(folder).empty();
}

std::string PresentName::text() const {
  if (mark.empty()) return name;
  return name + (mark == k_other        ? " (no file)"
                 : mark == k_unreadable ? " (unreadable)"
                                        : " (the order in it)");
}

PresentName parse_present(const std::string& line) {
  std::string mark;
  if (line.starts_with(k_other) || line.starts_with(k_unreadable)) mark = line.substr(0, k_other.size());
  if (line.starts_with(k_order)) mark = line.substr(0, line.find(' ', k_order.size()) + 1);
  const size_t tab = line.find('\t');
  return {line.substr(mark.size(), tab - mark.size()), line.substr(std::min(tab, line.size() - 1) + 1), mark};
}

// Those that lie below the folders of a search, by the first folder in them and by all ("" of a plain name);
// those that lead elsewhere: "../x.h", "/x.h".
struct FolderNames::Names {
  using ByFolder = std::map<std::string, std::vector<const std::string*>>;
  std::map<std::string, ByFolder> below;
  std::vector<const std::string*> elsewhere;

  explicit Names(const std::set<std::string>& names) {
    for (const std::string& name : names) {
      const size_t slash = name.rfind('/');
      if (!is_below_folder(name))
        elsewhere.push_back(&name);
      else if (slash == std::string::npos)
        below[""][""].push_back(&name);
      else
        below[first_of_path(name)][name.substr(0, slash)].push_back(&name);
    }
    below[""][""];  // what is precompiled may lie there, if any name counts
  }
};

std::string FolderNames::present(const NameSearch& search) {
  const Names names(search.names);
  std::string text;
  for (const std::string& folder : search.folders) {
    if (search.all && is_of_project(folder)) {
      add_all(folder, "", k_deepest, text);
      continue;
    }
    add_below(folder, names, search, text);
    for (const std::string* name : names.elsewhere) {
      add(folder, *name, text);
      for (const std::string_view end : k_precompiled_ends)
        add_precompiled(folder, *name + std::string(end), text);
    }
  }
  return text;
}

void FolderNames::add_below(const std::string& folder, const Names& names, const NameSearch& search,
                            std::string& text) {
  for (const auto& [first, by_folder] : names.below) {
    if (!first.empty() && !list(folder).may_have(first)) continue;
    for (const auto& [below, of_folder] : by_folder) {
      const Listing& listing = list(below.empty() ? folder : path_in(folder, below));
      const size_t begin = below.empty() ? 0 : below.size() + 1;
      for (const std::string* name : of_folder) {
        if (listing.may_have(name->substr(begin))) add(folder, *name, text);
        if (!listing.is_complete)
          for (const std::string_view end : k_precompiled_ends)
            add_precompiled(folder, *name + std::string(end), text);
      }
      for (const std::string& entry : listing.precompiled) {
        const std::string name = path_in(below, entry);
        if (search.all || search.names.count(std::string(without_precompiled_end(name))) > 0)
          add_precompiled(folder, name, text);
      }
    }
  }
}

// A compiler passes over folders.
void FolderNames::add(const std::string& folder, const std::string& name, std::string& text) {
  const Opening found = opening(path_in(folder, name));
  if (found == Opening::absent || found == Opening::directory) return;
  if (found == Opening::other) text += k_other;
  if (found == Opening::unreadable) text += k_unreadable;
  text += folder + "\t" + name + "\n";
}

// Of several in a folder, gcc takes the first that it can use, in an order that is this folder's own.
void FolderNames::add_precompiled(const std::string& folder, const std::string& name, std::string& text) {
  const std::string path = path_in(folder, name);
  if (opening(path) != Opening::directory) return add(folder, name, text);
  const auto entries = files_.list(at(path));
  if (!entries || entries->empty()) return;
  for (const std::string& entry : *entries)
    add(folder, name + "/" + entry, text);
  if (entries->size() == 1) return;
  const auto identity = files_.identity(at(path));
  text += std::string(k_order) + (identity ? identity->text() : "") + " " + folder + "\t" + name + "\n";
}

Opening FolderNames::opening(const std::string& path) {
  const auto [known, is_new] = known_.try_emplace(path);
  if (is_new) known->second = files_.opening(at(path));
  return known->second;
}

const FolderNames::Listing& FolderNames::list(const std::string& folder) {
  const auto [known, is_new] = listed_.try_emplace(folder);
  if (is_new) known->second = listing_of(folder);
  return known->second;
}

FolderNames::Listing FolderNames::listing_of(const std::string& folder) const {
  const Path path = at(folder.empty() ? "." : folder);
  Listing listing;
  if (const auto names = files_.list(path)) {
    listing.names.insert(names->begin(), names->end());
    std::copy_if(names->begin(), names->end(), std::back_inserter(listing.precompiled),
                 [](const std::string& name) { return !without_precompiled_end(name).empty(); });
  } else {
    const Opening found = files_.opening(path);
    listing.is_complete = found != Opening::unreadable && found != Opening::directory;
  }
  return listing;
}

// But for what lies in build folders.
void FolderNames::add_all(const std::string& folder, const std::string& below, int depth, std::string& text) {
  const Listing& listing = list(folder + below);
  if (!listing.is_complete) text += std::string(k_unreadable) + folder + "\t" + below + "\n";
  const std::set<std::string> names(listing.names.begin(), listing.names.end());
  if (depth == 0 || names.count(k_build_folder_marker) > 0) return;
  for (const std::string& name : names) {
    const std::string path = below + "/" + name;
    if (!without_precompiled_end(name).empty())
      add_precompiled(folder, path.substr(1), text);
    else if (opening(folder + path) == Opening::directory)
      add_all(folder, path, depth - 1, text);
    else
      add(folder, path.substr(1), text);
  }
}

}  // namespace dsbuild
