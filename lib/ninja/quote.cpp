#include "ninja/quote.h"

#include "base/text.h"

namespace dsbuild {
namespace {

std::string escape_dollars(std::string_view text) {
  return replace_all(std::string(text), "$", "$$");
}

}  // namespace

std::string ninja_refusal(std::string_view word) {
  for (const char c : word) {
    if (c == '\n' || c == '\r') return "a line break";
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "a control character";
  }
  return "";
}

std::string ninja_path_refusal(std::string_view path) {
  if (path.find('|') != std::string_view::npos) return "'|'";
  return ninja_refusal(path);
}

std::string ninja_path(std::string_view path) {
  std::string text = escape_dollars(path);
  text = replace_all(std::move(text), " ", "$ ");
  return replace_all(std::move(text), ":", "$:");
}

std::string ninja_word(std::string_view word) {
  return escape_dollars(shell_quote(word));
}

std::string ninja_paths(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths)
    text += " " + ninja_path(path);
  return text;
}

std::string ninja_words(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words)
    quoted.push_back(ninja_word(word));
  return join(quoted, " ");
}

std::string ninja_program(const std::vector<std::string>& argv) {
  return escape_dollars(shell_join(argv));
}

}  // namespace dsbuild
