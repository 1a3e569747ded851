#include "slices/code_lines.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace dsbuild {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What comes behind the token that begins at `at`. With digit separators: 1'000.
size_t end_of_number(std::string_view line, size_t at) {
  while (at < line.size() && (is_of_name(line[at]) || line[at] == '.' || line[at] == '\''))
    ++at;
  return at;
}

size_t end_of_name(std::string_view line, size_t at) {
  while (at < line.size() && is_of_name(line[at]))
    ++at;
  return at;
}

size_t end_of_string(std::string_view line, size_t at) {
  const char quote = line[at++];
  while (at < line.size() && line[at] != quote)
    at += line[at] == '\\' ? 2 : 1;
  return std::min(at + 1, line.size());
}

bool is_raw_prefix(std::string_view name) {
  return name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
}

// Where the quote of the line's first raw string stands; npos for none.
size_t raw_string_in(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    const size_t begin = at;
    if (is_digit(line[at])) {
      at = end_of_number(line, at);
    } else if (line[at] == '"' || line[at] == '\'') {
      at = end_of_string(line, at);
    } else if (is_of_name(line[at])) {
      at = end_of_name(line, at);
      if (at < line.size() && line[at] == '"' && is_raw_prefix(line.substr(begin, at - begin))) return at;
    } else {
      ++at;
    }
  }
  return std::string_view::npos;
}

// Behind R"mark(…)mark" whose first quote stands at `quote`.
size_t end_of_raw_string(std::string_view text, size_t quote) {
  const size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return text.size();
  const std::string end = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const size_t found = text.find(end, open);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

}  // namespace

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

size_t CodeLines::line_end(size_t begin) const {
  const size_t end = text_.find('\n', begin);
  return end == std::string_view::npos ? text_.size() : end + 1;
}

std::optional<std::string_view> CodeLines::next() {
  if (at_ == text_.size()) return std::nullopt;
  const size_t begin = at_;
  size_t end = line_end(begin);
  for (std::string_view rest = text_.substr(begin, end - begin);
       rest.find("R\"") != std::string_view::npos;) {
    const size_t quote = raw_string_in(rest);
    if (quote == std::string_view::npos) break;
    const size_t behind = end_of_raw_string(text_, end - rest.size() + quote);
    end = line_end(behind);
    rest = text_.substr(behind, end - behind);
  }
  at_ = end;
  return text_.substr(begin, end - begin);
}

}  // namespace dsbuild
