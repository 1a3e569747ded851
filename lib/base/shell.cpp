// The parts of text.h that know POSIX sh and terminals.
#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

bool is_plain_in_shell(char c) {
  constexpr std::string_view k_plain_signs = "_-./=:,+@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         k_plain_signs.find(c) != std::string_view::npos;
}

// Inside single quotes every character stands for itself, save the single quote.
std::string single_quote(std::string_view word) {
  return "'" + replace_all(std::string(word), "'", "'\\''") + "'";
}

// The words of a command line as they grow, character by character.
class ShellSplitter {
 public:
  explicit ShellSplitter(std::string_view text) : text_(text) {}

  std::vector<std::string> split() {
    while (at_ < text_.size())
      take_unquoted(text_[at_++]);
    end_word();
    return std::move(words_);
  }

 private:
  void take_unquoted(char c) {
    if (c == ' ' || c == '\t' || c == '\n') {
      end_word();
    } else if (c == '\'') {
      take_single_quoted();
    } else if (c == '"') {
      take_double_quoted();
    } else if (c == '\\' && at_ < text_.size()) {
      take_escaped();
    } else {
      add(c);
    }
  }

  // A backslash before a newline joins the lines; before anything else it quotes it.
  void take_escaped() {
    if (text_[at_] != '\n') add(text_[at_]);
    ++at_;
  }

  void take_single_quoted() {
    const size_t end = std::min(text_.find('\'', at_), text_.size());
    word_ += text_.substr(at_, end - at_);
    in_word_ = true;
    at_ = end + 1;
  }

  // Within double quotes a backslash quotes only these; before others it is itself.
  void take_double_quoted() {
    constexpr std::string_view k_escapable = "$`\"\\\n";
    in_word_ = true;
    while (at_ < text_.size() && text_[at_] != '"') {
      const bool escapes = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                           k_escapable.find(text_[at_ + 1]) != std::string_view::npos;
      if (escapes) {
        ++at_;
        take_escaped();
      } else {
        add(text_[at_++]);
      }
    }
    ++at_;
  }

  void add(char c) {
    word_ += c;
    in_word_ = true;
  }

  void end_word() {
    if (in_word_) words_.push_back(word_);
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;  // '' is a word although it is empty
  std::vector<std::string> words_;
};

bool is_in(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= first && byte <= last;
}

// The place after the string that starts at `at`, which BEL or ESC \ ends (titles, hyperlinks).
size_t skip_control_string(std::string_view text, size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\a') return at + 1;
    if (text[at] == '\x1b') return at + 1 < text.size() && text[at + 1] == '\\' ? at + 2 : at;
  }
  return at;
}

// ECMA-48: ESC [ parameters intermediates final.
size_t skip_csi(std::string_view text, size_t at) {
  while (at < text.size() && is_in(text[at], 0x20, 0x3f))
    ++at;
  return at < text.size() && is_in(text[at], 0x40, 0x7e) ? at + 1 : at;
}

// The place after the escape sequence whose ESC is at `at`.
size_t skip_escape(std::string_view text, size_t at) {
  if (++at == text.size()) return at;
  if (text[at] == '[') return skip_csi(text, at + 1);
  if (std::string_view("]PX^_").find(text[at]) != std::string_view::npos) {
    return skip_control_string(text, at + 1);
  }
  while (at < text.size() && is_in(text[at], 0x20, 0x2f))
    ++at;
  return at < text.size() && is_in(text[at], 0x30, 0x7e) ? at + 1 : at;
}

// U+0080 to U+009F, which some terminals obey as they obey ESC: two bytes in UTF-8.
bool is_c1_control(std::string_view text, size_t at) {
  return text[at] == '\xc2' && at + 1 < text.size() && is_in(text[at + 1], 0x80, 0x9f);
}

}  // namespace

std::string shell_quote(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_plain_in_shell) ? std::string(word)
                                                                                   : single_quote(word);
}

std::string shell_join(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (const std::string& word : argv) {
    // Unquoted, a first word with "=" would set a variable.
    const bool assigns = words.empty() && word.find('=') != std::string::npos;
    words.push_back(assigns ? single_quote(word) : shell_quote(word));
  }
  return join(words, " ");
}

std::vector<std::string> shell_split(std::string_view text) {
  return ShellSplitter(text).split();
}

std::string printable(std::string_view text) {
  std::string kept;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\x1b') {
      at = skip_escape(text, at);
    } else if (is_c1_control(text, at)) {
      at += 2;
    } else {
      const bool is_control = is_in(text[at], 0, 0x1f) || text[at] == '\x7f';
      if (!is_control || text[at] == '\t' || text[at] == '\n') kept += text[at];
      ++at;
    }
  }
  return kept;
}

}  // namespace dsbuild
