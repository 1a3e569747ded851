#include "nvcc/path_map.h"

#include <algorithm>
#include <array>

#include "base/build_layout.h"
#include "base/text.h"
#include "nvcc/code_lines.h"
#include "nvcc/line_marker.h"

namespace dsbuild {
namespace {

const std::string k_own_beginning = std::string(k_pack_folder) + "/";

bool is_absolute(std::string_view path) {
  return path.starts_with('/');
}

// What a name of a file is told apart by in a text of tools: nothing that is part of another path.
bool begins_a_name(const std::string& text, size_t place) {
  return place == 0 || !(std::isalnum(static_cast<unsigned char>(text[place - 1])) ||
                         std::string_view("/._-").find(text[place - 1]) != std::string_view::npos);
}

// Of the names of compilers that may be computed in the text itself.
bool may_read_its_name(std::string_view text) {
  constexpr std::array names = {"__builtin_FILE", "source_location"};
  return std::any_of(names.begin(), names.end(),
                     [&](const char* name) { return text.find(name) != std::string_view::npos; });
}

// Each name that begins so, as `convert` gives it.
template <class Convert>
std::string with_names(const std::string& said, const std::string& beginning, const Convert& convert) {
  std::string text;
  size_t from = 0;
  for (size_t place = said.find(beginning); place != std::string::npos;
       place = said.find(beginning, place + 1)) {
    if (place < from || !begins_a_name(said, place)) continue;
    const size_t end = std::min(said.find_first_of(" \t\n:,()\"'", place), said.size());
    text += said.substr(from, place - from) + convert(said.substr(place, end - place));
    from = end;
  }
  return text + said.substr(from);
}

}  // namespace

std::string PathMap::own_name(const std::string& given) const {
  if (given == root) return k_pack_folder;
  const std::string path = is_absolute(given) ? given : folder + "/" + given, below = root + "/";
  return path.starts_with(below) ? k_own_beginning + path.substr(below.size()) : path;
}

std::string PathMap::given_name(const std::string& own) const {
  if (!own.starts_with(k_own_beginning)) return own;
  std::string path = root + "/" + own.substr(k_own_beginning.size());
  const std::string here = folder + "/";
  return !is_absolute(source) && path.starts_with(here) ? path.substr(here.size()) : path;
}

std::vector<std::string> PathMap::own_words(std::vector<std::string> command) const {
  static const std::array<std::string, 4> options = {"-isystem", "-iquote", "-idirafter", "-I"};
  bool is_folder = false;
  for (std::string& word : command) {
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const std::string& each) { return word.starts_with(each); });
    const bool takes_next = option != options.end() && word == *option;
    if (is_folder || word == source)
      word = own_name(word);
    else if (option != options.end() && !takes_next)
      word = *option + own_name(word.substr(option->size()));
    is_folder = takes_next;
  }
  return command;
}

std::string PathMap::with_own_names(std::string_view text) const {
  if (!is_temporary && may_read_its_name(text)) return std::string(text);
  std::string named;
  named.reserve(text.size());
  FileNames files;  // of the markers
  CodeLines lines(text);
  while (const auto line = lines.next()) {
    const auto marker = read_line_marker(*line, {});
    // "<built-in>" and the like are no files.
    if (!marker || marker->file.size() <= 2 || marker->file[1] == '<') {
      if (is_temporary)
        add_with_own_literals(*line, files, named);
      else
        named += *line;
      continue;
    }
    const size_t place = static_cast<size_t>(marker->file.data() - line->data());
    const std::string file(marker->file.substr(1, marker->file.size() - 2));
    named += line->substr(0, place + 1);
    named += own_name(file);
    named += line->substr(place + 1 + file.size());
    files.insert(file);
  }
  return named;
}

// "/tmp/x/csrc/a.cu" of __FILE__ -> "pack/csrc/a.cu"
void PathMap::add_with_own_literals(std::string_view line, const FileNames& files, std::string& text) const {
  const std::string literal = "\"" + root + "/";
  size_t from = 0;
  for (size_t place = line.find(literal); place != std::string_view::npos;
       place = line.find(literal, place + 1)) {
    const size_t end = line.find('"', place + 1);
    if (end == std::string_view::npos) break;
    const std::string_view file = line.substr(place + 1, end - place - 1);
    if (files.find(file) == files.end()) continue;
    text += line.substr(from, place + 1 - from);
    text += own_name(std::string(file));
    from = end;
  }
  text += line.substr(from);
}

std::string PathMap::with_given_names(const std::string& said) const {
  const std::string text =
      with_names(said, k_own_beginning, [&](const std::string& own) { return given_name(own); });
  // Where lines are told of, files have absolute names for the tools (with_files_below in
  // nvcc/line_normalization.h).
  if (is_absolute(source)) return text;
  const std::string here = folder + "/";
  return with_names(text, here, [&](const std::string& name) { return name.substr(here.size()); });
}

// Bytes of a string stand in PTX as numbers: {112, 97, 99, 107, 47, …}.
bool has_own_names(std::string_view ptx) {
  for (const char* between : {", ", ","}) {
    std::string numbers;
    for (const char byte : k_own_beginning)
      numbers += (numbers.empty() ? "" : between) + std::to_string(static_cast<int>(byte));
    if (ptx.find(numbers) != std::string_view::npos) return true;
  }
  return false;
}

std::string root_of(const std::string& source, const std::string& folder) {
  const std::string home = source.substr(0, source.rfind('/')), own = home + "/", other = folder + "/";
  size_t common = 0, folders = 0;
  for (size_t at = 0; at < std::min(own.size(), other.size()) && own[at] == other[at]; ++at) {
    if (own[at] != '/') continue;
    common = at;
    folders += at > 0 ? 1 : 0;
  }
  return folders < 2 ? home : own.substr(0, common);
}

}  // namespace dsbuild
