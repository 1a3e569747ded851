#include "inputs/looked_for.h"

#include <algorithm>

#include "base/build_layout.h"
#include "base/text.h"
#include "inputs/layout.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_blanks = " \t\r\v\f";
constexpr std::string_view k_has = "__has_";
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

std::string FolderNames::present(const NameSearch& search) {
  std::map<std::string, std::vector<const std::string*>> by_first;
  std::vector<const std::string*> elsewhere;  // "../x.h", "/x.h"
  for (const std::string& name : search.names) {
    if (is_below_folder(name))
      by_first[first_of_path(name)].push_back(&name);
    else
      elsewhere.push_back(&name);
  }
  std::string text;
  for (const std::string& folder : search.folders) {
    const auto add = [&](const std::string& name) {
      if (is_file(path_in(folder, name))) text += folder + "\t" + name + "\n";
    };
    if (search.all && is_of_project(folder)) {
      add_all(folder, "", k_deepest, text);
      continue;
    }
    const std::unordered_set<std::string>& entries = list(folder);
    for (const auto& [first, names] : by_first)
      if (entries.count(first) > 0)
        for (const std::string* name : names)
          add(*name);
    for (const std::string* name : elsewhere)
      add(*name);
  }
  return text;
}

bool FolderNames::is_file(const std::string& path) {
  const auto [known, is_new] = known_files_.try_emplace(path);
  if (is_new) known->second = files_.kind(at(path)) == FileKind::file;
  return known->second;
}

const std::unordered_set<std::string>& FolderNames::list(const std::string& folder) {
  const auto [known, is_new] = listed_.try_emplace(folder);
  if (is_new)
    if (const auto names = files_.list(at(folder.empty() ? "." : folder)))
      known->second.insert(names->begin(), names->end());
  return known->second;
}

// But for what lies in build folders.
void FolderNames::add_all(const std::string& folder, const std::string& below, int depth, std::string& text) {
  const std::unordered_set<std::string>& listed = list(folder + below);
  const std::set<std::string> names(listed.begin(), listed.end());
  if (depth == 0 || names.count(k_build_folder_marker) > 0) return;
  for (const std::string& name : names) {
    const std::string path = below + "/" + name;
    const FileKind kind = files_.kind(at(folder + path));
    if (kind == FileKind::file) text += folder + "\t" + path.substr(1) + "\n";
    if (kind == FileKind::directory) add_all(folder, path, depth - 1, text);
  }
}

}  // namespace dsbuild
