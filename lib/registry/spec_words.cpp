#include "registry/spec_words.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "registry/op_spec.h"

namespace dsbuild {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
bool is_identifier_start(char c) {
  return is_letter(c) || c == '_';
}
bool is_identifier_part(char c) {
  return is_identifier_start(c) || is_digit(c);
}

template <class Start, class Part>
bool is_word(std::string_view word, Start start, Part part, size_t longest = 255) {
  return !word.empty() && word.size() <= longest && start(word[0]) &&
         std::all_of(word.begin(), word.end(), part);
}

bool is_identifier(std::string_view word) {
  return is_word(word, is_identifier_start, is_identifier_part);
}

bool is_file_word(const std::string& word) {
  const auto start = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  const auto part = [&](char c) { return start(c) || c == '.' || c == '+' || c == '-'; };
  return is_word(word, start, part);
}

// Every piece between slashes, empty ones too ("a//b", "a/").
std::vector<std::string_view> path_parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

std::string refuse_path_part(std::string_view part) {
  if (part.empty()) return "has an empty part ('//', or a '/' at its end)";
  if (part == "..") return "leaves the source root ('..')";
  if (part == ".") return "has a part '.'; leave it out";
  if (part.size() > 255) return "has a part of over 255 bytes";
  return "";
}

std::string refuse_path_characters(std::string_view path, std::string_view forbidden) {
  for (const char c : path) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "has a control character";
    if (forbidden.find(c) != std::string_view::npos) return std::string("has the character '") + c + "'";
  }
  return "";
}

constexpr std::string_view k_not_in_paths = "|\\$\"'`*?";

std::string refuse_path_text(std::string_view path, std::string_view forbidden) {
  if (path.size() > 4095) return "is over 4095 bytes long";
  if (std::string reason = refuse_path_characters(path, forbidden); !reason.empty()) return reason;
  for (const std::string_view part : path_parts(path)) {
    if (std::string reason = refuse_path_part(part); !reason.empty()) return reason;
  }
  return "";
}

std::string refuse_any_path(const std::string& path, std::string_view forbidden) {
  if (path.empty()) return "is empty";
  if (path[0] == '/') return "is absolute; paths are relative to the source root";
  if (path[0] == '~') return "starts with '~'";
  return refuse_path_text(path, forbidden);
}

}  // namespace

std::string refuse_op_name(const std::string& word) {
  const auto part = [](char c) { return is_lower(c) || is_digit(c) || c == '_'; };
  if (is_word(word, is_lower, part, 64)) return "";
  return "is not a valid op name. A name has a lower-case letter first, then up to 63 of a-z, 0-9 and '_'";
}

std::string refuse_build_var(const std::string& word) {
  constexpr std::string_view prefix = "DS_BUILD_";
  const auto part = [](char c) { return is_upper(c) || is_digit(c) || c == '_'; };
  const bool well_formed = word.rfind(prefix, 0) == 0 && is_word(word.substr(prefix.size()), part, part);
  if (!well_formed) return "is not a build variable: DS_BUILD_ and then A-Z, 0-9 and '_'";
  if (word == "DS_BUILD_OPS" || word == "DS_BUILD_STRING") return "has a meaning of its own";
  return "";
}

std::string refuse_identifier(const std::string& word) {
  return is_identifier(word) ? "" : "is not an identifier (letters, digits and '_')";
}

std::string refuse_module(const std::string& word) {
  std::string_view rest = word;
  while (true) {
    const size_t dot = rest.find('.');
    if (!is_identifier(rest.substr(0, dot))) return "is not a Python module (identifiers joined by dots)";
    if (dot == std::string_view::npos) return "";
    rest.remove_prefix(dot + 1);
  }
}

std::string refuse_library(const std::string& word) {
  return is_file_word(word) ? "" : "is not a library name (write 'aio' for libaio.so)";
}

std::string refuse_command(const std::string& word) {
  return is_file_word(word) ? "" : "is not a command name (a program looked up on PATH)";
}

std::string refuse_truth(const std::string& word) {
  return word == "true" || word == "false" ? "" : "is neither true nor false";
}

std::string refuse_cpu_feature(const std::string& word) {
  const auto part = [](char c) { return is_lower(c) || is_digit(c) || c == '_'; };
  return is_word(word, is_lower, part) ? "" : "is not a CPU feature (as in /proc/cpuinfo, e.g. avx2)";
}

std::string refuse_define_value(const std::string& word) {
  if (word.size() > 255) return "is over 255 bytes long";
  bool is_quoted = false;
  for (const char c : word) {
    if (c < 0x20 || c >= 0x7f) return "has a character that is not plain ASCII";
    if (std::string_view("$`\\").find(c) != std::string_view::npos)
      return std::string("has the character '") + c + "': nvcc hands its arguments on through a shell";
    if (c == '[' || c == ']') return std::string("has the character '") + c + "', which nvcc may lose";
    if (c == '"') is_quoted = !is_quoted;
    if (c == ',' && !is_quoted) return "has a comma outside of quotes, where nvcc ends a define";
  }
  return is_quoted ? "has a quote that does not end" : "";
}

std::string refuse_path(const std::string& path) {
  return refuse_any_path(path, k_not_in_paths);
}

std::string refuse_include_dir(const std::string& path) {
  return path == "." ? "" : refuse_path(path);
}

std::string refuse_folder(const std::string& path) {
  const std::vector<std::string_view> parts = path_parts(path);
  if (std::ranges::find(parts, "..") != parts.end()) return "has a part '..'";
  return path.starts_with('/') ? refuse_path_text(path.substr(1), k_not_in_paths) : refuse_path(path);
}

std::string refuse_folder_base(const std::string& word) {
  return word == k_in_packages || word == k_in_python
             ? ""
             : std::string("is neither ") + k_in_packages + " nor " + k_in_python;
}

std::string refuse_folder_language(const std::string& word) {
  return word == k_for_cxx || word == k_for_nvcc
             ? ""
             : std::string("is neither ") + k_for_cxx + " nor " + k_for_nvcc;
}

std::string refuse_glob(const std::string& glob) {
  for (const std::string_view part : path_parts(glob))
    if (part != "**" && part.find("**") != part.npos)
      return "has '**' next to other characters; alone between two '/' it stands for folders";
  if (glob.ends_with("**")) return "ends with '**', which stands for folders; add '/*.cu', say";
  return refuse_any_path(glob, "|\\$\"'`[]{}");
}

}  // namespace dsbuild
