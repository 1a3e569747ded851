#include "inputs/unnamed_files.h"

#include <algorithm>
#include <string>

namespace dsbuild {
namespace {

constexpr auto k_none = std::string_view::npos;

// As the assembler gets it: lines that go on are one, string literals that follow each other too, and it does
// not tell upper from lower case.
std::string joined(std::string_view source) {
  constexpr std::string_view k_between = " \t\r\n\f\v";
  std::string text;
  text.reserve(source.size());
  for (size_t at = 0; at < source.size(); ++at) {
    const char c = source[at];
    const size_t next = std::min(
        source.find_first_not_of(c == '"' ? k_between : k_between.substr(0, 3), at + 1), source.size() - 1);
    if ((c == '\\' && source[next] == '\n') || (c == '"' && next > at && source[next] == '"'))
      at = next;
    else
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// "# embed" and "%:embed", also behind a comment.
bool has_embed_directive(std::string_view text) {
  for (size_t at = text.find("embed"); at != k_none; at = text.find("embed", at + 1)) {
    const size_t before = at == 0 ? k_none : text.find_last_not_of(" \t\f\v", at - 1);
    if (before != k_none && std::string_view("#:/").find(text[before]) != k_none) return true;
  }
  return false;
}

}  // namespace

bool may_read_in_assembler(std::string_view source) {
  const std::string text = joined(source);
  return text.find("incbin") != k_none || text.find(".include") != k_none;
}

bool may_embed_files(std::string_view source) {
  const std::string text = joined(source);
  return text.find("__has_embed") != k_none || has_embed_directive(text);
}

}  // namespace dsbuild
