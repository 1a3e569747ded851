// The parts of text.h that know POSIX sh.
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

std::string own_command(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return "dsbuild " + shell_join(words);
}

std::vector<std::string> shell_split(std::string_view text) {
  return ShellSplitter(text).split();
}

}  // namespace dsbuild
