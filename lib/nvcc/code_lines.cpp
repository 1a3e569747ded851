#include "nvcc/code_lines.h"

#include <algorithm>

#include "nvcc/tokens.h"

namespace dsbuild {
namespace {

constexpr size_t k_none = std::string_view::npos;

// Where what may go on in other lines begins: the quote of the line's first raw string, or a comment that
// does not end in it (a preprocessor keeps them with -C). Neither begins in a comment.
size_t long_piece_in(std::string_view line) {
  for (size_t at = 0; at < line.size();) {
    const size_t begin = at;
    if (is_digit(line[at])) {
      at = end_of_number(line, at);
    } else if (line[at] == '"' || line[at] == '\'') {
      at = end_of_string(line, at);
    } else if (line.substr(at).starts_with("//")) {
      return k_none;
    } else if (line.substr(at).starts_with("/*")) {
      const size_t end = line.find("*/", at + 2);
      if (end == k_none) return at;
      at = end + 2;
    } else if (is_of_name(line[at])) {
      at = end_of_name(line, at);
      if (at < line.size() && line[at] == '"' && is_raw_prefix(line.substr(begin, at - begin))) return at;
    } else {
      ++at;
    }
  }
  return k_none;
}

size_t end_of_long_piece(std::string_view text, size_t at) {
  if (text[at] == '"') return std::min(end_of_raw_string(text, at), text.size());
  return std::min(text.find("*/", at), text.size() - 2) + 2;
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
       rest.find("R\"") != k_none || rest.find("/*") != k_none;) {
    const size_t piece = long_piece_in(rest);
    if (piece == k_none) break;
    const size_t behind = end_of_long_piece(text_, end - rest.size() + piece);
    end = line_end(behind);
    rest = text_.substr(behind, end - behind);
  }
  at_ = end;
  return text_.substr(begin, end - begin);
}

}  // namespace dsbuild
