#include "inputs/depfile.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"

namespace dsbuild {
namespace {

class DepfileReader {
 public:
  explicit DepfileReader(std::string_view text) : text_(text) {}

  std::vector<std::string> read() {
    while (at_ < text_.size())
      step();
    end_rule();
    return std::move(files_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\\') return backslashes();
    ++at_;
    if (c == '\n') return end_rule();
    if (c == ' ' || c == '\t' || c == '\r') return end_word();
    if (c == '$' && next() == '$') ++at_;
    if (c == ':' && !in_inputs_ && is_end_of_target()) return begin_inputs();
    word_ += c;
  }

  // A run of them, and what they stand before.
  void backslashes() {
    const size_t end = std::min(text_.find_first_not_of('\\', at_), text_.size());
    const size_t count = end - at_;
    const char behind = end < text_.size() ? text_[end] : '\0';
    at_ = end;
    if (behind == '\n' || behind == '\r' || behind == '\0') {
      word_.append(count - 1, '\\');  // the last one joins the lines
      end_word();
      at_ = std::min(text_.find('\n', at_), text_.size()) + 1;
    } else if (behind == ' ' || behind == '\t') {
      word_.append(count / 2, '\\');
      if (count % 2 == 1) take_escaped(behind);
    } else if (behind == '#' || behind == ':') {
      word_.append(count - 1, '\\');
      take_escaped(behind);
    } else {
      word_.append(count, '\\');
    }
  }

  void take_escaped(char c) {
    word_ += c;
    ++at_;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool is_end_of_target() const {
    return at_ >= text_.size() || std::string_view(" \t\r\n\\").find(text_[at_]) != std::string_view::npos;
  }
  void begin_inputs() {
    word_.clear();
    in_inputs_ = true;
  }
  void end_word() {
    if (in_inputs_ && !word_.empty() && seen_.insert(word_).second) files_.push_back(word_);
    word_.clear();
  }
  void end_rule() {
    end_word();
    in_inputs_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string word_;
  bool in_inputs_ = false;
  std::vector<std::string> files_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

std::vector<std::string> files_in_depfile(std::string_view depfile) {
  return DepfileReader(depfile).read();
}

std::vector<std::string> files_in_link_depfile(std::string_view depfile,
                                               const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> files;
  for (std::string line : split_lines(depfile)) {
    if (!line.starts_with("  ")) continue;
    if (line.ends_with(" \\")) line.resize(line.size() - 2);
    const std::string plain = line.substr(2);
    if (exists(plain)) {
      files.push_back(plain);
      continue;
    }
    for (std::string& file : files_in_depfile("library: " + plain + "\n"))
      files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::string> files_in_assembler_depfile(std::string_view depfile,
                                                    const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> files;
  for (const std::string& file : files_in_depfile(depfile))
    if (exists(file)) files.push_back(file.starts_with("./") ? file.substr(2) : file);
  return files;
}

}  // namespace dsbuild
