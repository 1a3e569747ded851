#include "slices/tokens.h"

#include <cctype>
#include <string>

namespace dsbuild {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

size_t end_of_name(std::string_view text, size_t at) {
  while (at < text.size() && is_of_name(text[at]))
    ++at;
  return at;
}

size_t end_of_number(std::string_view text, size_t at) {
  const auto is_separator = [&](size_t i) {
    return text[i] == '\'' && i + 1 < text.size() && is_of_name(text[i + 1]);
  };
  while (at < text.size() && (is_of_name(text[at]) || text[at] == '.' || is_separator(at)))
    ++at;
  return at;
}

bool is_raw_prefix(std::string_view name) {
  return name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R";
}

size_t end_of_raw_string(std::string_view text, size_t quote) {
  const size_t open = text.find('(', quote);
  if (open == std::string_view::npos) return text.size();
  const std::string end = ")" + std::string(text.substr(quote + 1, open - quote - 1)) + "\"";
  const size_t found = text.find(end, open);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

}  // namespace dsbuild
