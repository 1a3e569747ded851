#include "nvcc/tokens.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace dsbuild {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_beyond_ascii(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}

size_t end_of_name(std::string_view text, size_t at) {
  while (at < text.size() && is_of_name(text[at]))
    ++at;
  return at;
}

size_t end_of_number(std::string_view text, size_t at) {
  const auto goes_on = [&](size_t i) {
    const char c = text[i], before = i > 0 ? text[i - 1] : ' ';
    if (c == '\'') return i + 1 < text.size() && is_of_name(text[i + 1]);
    if (c == '+' || c == '-') return before == 'e' || before == 'E' || before == 'p' || before == 'P';
    return is_of_name(c) || c == '.' || is_beyond_ascii(c);
  };
  while (at < text.size() && goes_on(at))
    ++at;
  return at;
}

size_t end_of_string(std::string_view line, size_t at) {
  const char quote = line[at++];
  while (at < line.size() && line[at] != quote)
    at += line[at] == '\\' ? 2 : 1;
  return std::min(at + 1, line.size());
}

std::vector<size_t> mentions_of(std::string_view name, std::string_view text) {
  std::vector<size_t> found;
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end])))
      found.push_back(at);
  }
  return found;
}

bool is_raw_prefix(std::string_view name) {
  return name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
}

size_t end_of_raw_string(std::string_view text, size_t quote) {
  constexpr size_t k_longest_mark = 16;
  const size_t open = text.find('(', quote);
  if (open == std::string_view::npos || open - quote - 1 > k_longest_mark) return std::string_view::npos;
  const std::string end = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const size_t found = text.find(end, open);
  return found == std::string_view::npos ? found : found + end.size();
}

}  // namespace dsbuild
