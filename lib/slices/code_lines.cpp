#include "slices/code_lines.h"

#include <algorithm>

#include "slices/tokens.h"

namespace dsbuild {
namespace {

size_t end_of_string(std::string_view line, size_t at) {
  const char quote = line[at++];
  while (at < line.size() && line[at] != quote)
    at += line[at] == '\\' ? 2 : 1;
  return std::min(at + 1, line.size());
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

}  // namespace

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
    const size_t behind = std::min(end_of_raw_string(text_, end - rest.size() + quote), text_.size());
    end = line_end(behind);
    rest = text_.substr(behind, end - behind);
  }
  at_ = end;
  return text_.substr(begin, end - begin);
}

}  // namespace dsbuild
