// Small pure functions on text. Nothing here knows what the text means.
#pragma once

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dsbuild {

using Path = std::filesystem::path;

std::string join(const std::vector<std::string>& parts, std::string_view separator);
// Splits at every character of `separators`; empty pieces are dropped.
std::vector<std::string> split(std::string_view text, std::string_view separators);
// Lines without their '\n'; a last line without '\n' counts.
std::vector<std::string> split_lines(std::string_view text);
bool starts_with_one_of(std::string_view text, const std::vector<std::string>& beginnings);
std::string trim(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
// "fused_adam_op" of "deepspeed.ops.adam.fused_adam_op".
std::string last_component(const std::string& dotted);
// The text as a number, when all of it is one; nullopt for "", "+1", " 1", "1x" and what is out of range.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, trouble] = std::from_chars(text.data(), end, number, base);
  if (trouble != std::errc{} || rest != end) return std::nullopt;
  return number;
}
// "1 op", "2 ops".
std::string plural(size_t count, std::string_view noun);
std::string hex(unsigned long long number);  // "0x53f"
// "512 B", "1.2 KiB", "3.4 MiB".
std::string human_size(unsigned long long bytes);

// The candidate with the smallest edit distance to `word`, if it is near enough to be a likely
// misspelling (distance at most a third of the longer word, at least 1, never all of it); else "".
// Case is ignored. Ties go to the first candidate.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// Quotes one word for POSIX sh; words of plain characters stay as they are ("" becomes '').
std::string shell_quote(std::string_view word);
std::string shell_join(const std::vector<std::string>& argv);
// A command line of ours in a message: complete and quoted, so that it works when it is typed where it is
// printed: "dsbuild verify 'my bundle'". In running text it stands in backticks; one with words to be filled
// in begins with "Usage: ". `more` words come last.
std::string own_command(std::vector<std::string> words, const std::vector<std::string>& more = {});
// Splits as a POSIX shell would (quotes, backslashes), without expansions. An unbalanced quote is
// closed at the end of the text. For CFLAGS, LDFLAGS (upstream: shlex.split).
std::vector<std::string> shell_split(std::string_view text);

// Text of others that is going to a terminal. A terminal obeys escape sequences, C0 and C1 controls (also as
// single bytes), DEL and what turns the direction of writing (U+202A to U+202E, U+2066 to U+2069). Tab and
// line break stay. Pieces that are cleaned one by one hold nothing to obey when they are put together,
// either.
enum class Colours { removed, kept };
// For a tool's output: escape sequences and controls are removed. `kept`: those that set colours stay.
std::string printable(std::string_view text, Colours colours = Colours::removed);
// For all that people see: what a terminal would obey, and what is no UTF-8, is shown as `\x1b`, `\u202e`.
// `kept`: the colours of lib/report stay.
std::string visible(std::string_view text, Colours colours = Colours::removed);

}  // namespace dsbuild
