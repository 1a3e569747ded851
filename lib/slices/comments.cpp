#include "slices/comments.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "slices/positions.h"
#include "slices/tokens.h"

namespace dsbuild {
namespace {

constexpr auto k_none = std::string_view::npos;
constexpr std::string_view k_blanks = " \t\r\f\v";

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

// Whether the line break at `end` is none to a compiler, which takes the line and the next for one; also with
// blanks behind the backslash. `backslash`: where it stands.
bool is_spliced(std::string_view text, size_t end, size_t& backslash) {
  backslash = text.find_last_not_of(k_blanks, end - 1);
  return backslash != k_none && text[backslash] == '\\';
}

// As compilers have it, to which "$" and letters of any alphabet are letters.
bool may_be_of_name(char c) {
  return is_of_name(c) || c == '$' || is_beyond_ascii(c);
}

// Whether a token, or what begins or ends a comment, may go on behind a spliced line break.
bool has_spliced_token(std::string_view text) {
  size_t backslash = 0;
  for (size_t end = text.find('\n', 1); end != k_none; end = text.find('\n', end + 1)) {
    if (!is_spliced(text, end, backslash) || backslash == 0) continue;
    const char before = text[backslash - 1], behind = end + 1 < text.size() ? text[end + 1] : '\n';
    if (before == '/' || before == '*' || before == '\'') return true;
    if (may_be_of_name(before) && (may_be_of_name(behind) || is_quote(behind) || behind == '\\')) return true;
  }
  return false;
}

// <sys//types.h> names a header; it does not begin a comment. `at`: behind the word that a name may follow.
bool is_unclear_header_name(std::string_view text, size_t at) {
  constexpr size_t k_longest_name = 4096;
  const auto skip_blanks = [&] { at = std::min(text.find_first_not_of(k_blanks, at), text.size()); };
  skip_blanks();
  if (text.substr(at).starts_with('(')) ++at;
  skip_blanks();
  std::string_view name = text.substr(at, k_longest_name);
  if (name.starts_with("//") || name.starts_with("/*") || name.starts_with('\\')) return true;
  if (!name.starts_with('<')) return false;
  name = name.substr(0, name.find_first_of(">\n"));
  return name.size() == k_longest_name || name.find("//") != k_none || name.find("/*") != k_none ||
         name.find_first_of("\"'\\") != k_none;
}

bool has_unclear_header_name(std::string_view text) {
  for (const std::string_view word : {"include", "include_next", "import"})
    for (size_t at = text.find(word); at != k_none; at = text.find(word, at + word.size()))
      if (end_of_name(text, at) == at + word.size() && is_unclear_header_name(text, at + word.size()))
        return true;
  return false;
}

// Macros that tell when a file was written or compiled: every edit counts.
bool tells_time(std::string_view text) {
  return text.find("__TIMESTAMP__") != k_none || text.find("__TIME__") != k_none ||
         text.find("__DATE__") != k_none;
}

// Some compilers take it for the end of a line.
bool has_lone_carriage_return(std::string_view text) {
  for (size_t at = text.find('\r'); at != k_none; at = text.find('\r', at + 1))
    if (!text.substr(at + 1).starts_with('\n')) return true;
  return false;
}

bool is_clear(std::string_view text) {
  constexpr std::string_view k_trigraph = "\?\?";
  return text.find(k_trigraph) == k_none && text.find('\0') == k_none && !tells_time(text) &&
         !has_lone_carriage_return(text) && !has_spliced_token(text) && !has_unclear_header_name(text);
}

class CommentFilter {
 public:
  explicit CommentFilter(std::string_view text) : text_(text) {}

  // nullopt where it cannot be told.
  std::optional<std::string> run() {
    if (!is_clear(text_)) return std::nullopt;
    kept_.reserve(text_.size());
    while (at_ < text_.size())
      if (!(begins("//") ? drop_line_comment() : begins("/*") ? take_block_comment() : take_token()))
        return std::nullopt;
    kept_.erase(std::min(kept_.find_last_not_of(std::string(k_blanks) + "\n") + 1, kept_.size()));
    if (kept_.ends_with('\\')) return std::nullopt;
    return std::move(kept_);
  }

 private:
  bool begins(std::string_view mark) const { return text_.substr(at_).starts_with(mark); }

  void keep_up_to(size_t end) {
    kept_ += text_.substr(at_, end - at_);
    at_ = end;
  }

  bool take_token() {
    const char c = text_[at_];
    if (is_quote(c)) return take_quoted();
    if (is_digit(c)) return keep_up_to(end_of_number(text_, at_)), true;
    if (is_of_name(c)) return take_name();
    return keep_up_to(at_ + 1), true;
  }

  bool take_quoted() {
    const std::string stops = {text_[at_], '\\', '\n'};
    size_t end = text_.find_first_of(stops, at_ + 1);
    while (end != k_none && text_[end] == '\\')
      end = text_.find_first_of(stops, end + 2);
    if (end == k_none || text_[end] == '\n') return false;
    keep_up_to(end + 1);
    return true;
  }

  bool take_name() {
    const size_t begin = at_;
    const bool is_glued = begin > 0 && (is_quote(text_[begin - 1]) || may_be_of_name(text_[begin - 1]));
    keep_up_to(end_of_name(text_, at_));
    if (!begins("\"") || !is_raw_prefix(text_.substr(begin, at_ - begin))) return true;
    const size_t end = end_of_raw_string(text_, at_);
    if (is_glued || end == k_none) return false;
    keep_up_to(end);
    return true;
  }

  bool drop_line_comment() {
    size_t backslash = 0;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    if (is_spliced(text_, end, backslash)) return false;
    return drop_up_to(end);
  }

  bool take_block_comment() {
    size_t end = text_.find("*/", at_ + 2);
    if (end == k_none) return false;
    end += 2;
    const size_t behind = std::min(text_.find_first_not_of(k_blanks, end), text_.size());
    const bool ends_line = behind == text_.size() || text_[behind] == '\n';
    const bool has_lines = text_.substr(at_, end - at_).find('\n') != k_none;
    if (has_lines && is_in_directive()) return false;
    if (ends_line) return drop_up_to(behind);
    keep_up_to(end);
    return true;
  }

  // #line counts from where the comment ends, and some directives know no comments.
  bool is_in_directive() const {
    size_t begin = kept_.rfind('\n'), backslash = 0;
    while (begin != k_none && begin > 0 && is_spliced(kept_, begin, backslash))
      begin = kept_.rfind('\n', begin - 1);
    const size_t first = kept_.find_first_not_of(std::string(k_blanks) + "\n", begin == k_none ? 0 : begin);
    return first != k_none && (kept_[first] == '#' || kept_.compare(first, 2, "%:") == 0);
  }

  // Lines stay. A backslash before a comment is not one at the line's end.
  bool drop_up_to(size_t end) {
    kept_.erase(kept_.find_last_not_of(k_blanks) + 1);
    if (kept_.ends_with('\\')) return false;
    kept_.append(static_cast<size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                text_.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                 '\n');
    at_ = end;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string kept_;
};

// A comment may be what a warning is about: one too many in another, one that says a fall through is meant.
bool makes_warnings_errors(const std::string& word) {
  return word.starts_with("-Werror") || word.starts_with("--Werror") || word == "-pedantic-errors";
}

bool hands_comments_on(const std::string& word) {
  static const std::vector<std::string> words = {"-C", "-CC", "-fdirectives-only", "-frewrite-includes",
                                                 "-Xpreprocessor"};
  static const std::vector<std::string> beginnings = {"--comments", "-traditional", "-Wp,",    "@",
                                                      "-specs",     "--specs",      "--config"};
  return std::find(words.begin(), words.end(), word) != words.end() || starts_with_one_of(word, beginnings);
}

}  // namespace

std::string without_comments(std::string_view source) {
  auto kept = CommentFilter(source).run();
  return kept ? std::move(*kept) : std::string(source);
}

bool keeps_comments(const std::vector<std::string>& command) {
  const auto any = [&](const auto& is) { return std::any_of(command.begin(), command.end(), is); };
  if (any(hands_comments_on) || any(makes_warnings_errors)) return true;
  if (any([](const std::string& word) { return word == "-E"; })) return false;
  return any(may_keep_positions) || any([](const std::string& word) { return word.starts_with("-gencode"); });
}

std::string text_that_counts(std::string_view source, const std::vector<std::string>& command) {
  return keeps_comments(command) ? std::string(source) : without_comments(source);
}

bool embeds_files(std::string_view source) {
  return !mentions_of("embed", source).empty();
}

bool reads_unnamed_files(std::string_view source) {
  return source.find("incbin") != source.npos;
}

}  // namespace dsbuild
