#include "inputs/clock_words.h"

#include <cctype>

namespace dsbuild {
namespace {

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part_of_word(text[at - 1])) && (end == text.size() || !is_part_of_word(text[end])))
      return true;
  }
  return false;
}

}  // namespace

bool reads_clock(std::string_view text) {
  return has_word(text, "__DATE__") || has_word(text, "__TIME__");
}

bool reads_time_of_file(std::string_view text) {
  return has_word(text, "__TIMESTAMP__");
}

}  // namespace dsbuild
