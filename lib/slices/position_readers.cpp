#include "slices/position_readers.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "slices/code_lines.h"
#include "slices/line_marker.h"
#include "slices/tokens.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_blank = " \t\n";
constexpr size_t k_none = std::string_view::npos;

// The last word of the text: a name, or one character; "" for none.
std::string_view last_word(std::string_view text) {
  const size_t last = text.find_last_not_of(k_blank);
  if (last == k_none) return "";
  size_t begin = last;
  while (is_of_name(text[last]) && begin > 0 && is_of_name(text[begin - 1]))
    --begin;
  return text.substr(begin, last + 1 - begin);
}

std::string_view before_last_word(std::string_view text) {
  const std::string_view word = last_word(text);
  return text.substr(0, static_cast<size_t>(word.data() - text.data()));
}

// Markers and pragmas may stand within a statement.
size_t begin_of_line(std::string_view text, size_t at) {
  return text.substr(0, at).rfind('\n') + 1;
}

// What comes next of the code.
char first_character(std::string_view text) {
  size_t first = text.find_first_not_of(k_blank);
  while (first != k_none && text[first] == '#')
    first = text.find_first_not_of(k_blank, text.find('\n', first));
  return first == k_none ? '\0' : text[first];
}

// The last of these characters that is in no marker and no pragma.
size_t find_last_in_code(std::string_view text, std::string_view characters) {
  size_t found = text.find_last_of(characters);
  while (found != k_none && text[begin_of_line(text, found)] == '#')
    found = text.substr(0, begin_of_line(text, found)).find_last_of(characters);
  return found;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The bracket that is open where the text ends; k_none where one of the characters of `stop` comes first.
size_t open_bracket(std::string_view text, std::string_view pair, std::string_view stop) {
  int closed = 0;
  for (size_t at = text.size(); at-- > 0;) {
    if (stop.find(text[at]) != k_none) return k_none;
    if (text[at] == pair[1]) ++closed;
    if (text[at] == pair[0] && closed-- == 0) return at;
  }
  return k_none;
}

size_t open_parenthesis(std::string_view text) {
  return open_bracket(text, "()", ";{}\"'");
}

// The name of the function of which the builtin at `at` is a default argument; "" where it is none. A
// constructor is called without its name, so a type has to stand before the name.
std::string_view function_with_default(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const size_t open = open_parenthesis(before);
  if (last_word(before) != "=" || open == k_none) return "";
  const std::string_view name = last_word(text.substr(0, open));
  const std::string_view type = last_word(before_last_word(text.substr(0, open)));
  const bool has_type = !type.empty() && (is_of_name(type.front()) || is_one_of(type, {"&", "*", ">"}));
  const bool is_no_type =
      is_one_of(type, {"explicit", "constexpr", "consteval", "inline", "static", "virtual", "friend",
                       "operator", "new", "return", "else", "do", "throw"});
  const bool is_name =
      !name.empty() && (std::isalpha(static_cast<unsigned char>(name.front())) || name.front() == '_');
  const bool is_no_name =
      is_one_of(name, {"if", "while", "for", "switch", "decltype", "noexcept", "alignas"});
  return is_name && has_type && !is_no_type && !is_no_name ? name : "";
}

// f(…), f<…>(…), (f)(…).
bool is_call(std::string_view text, size_t end) {
  const std::string_view rest = text.substr(end);
  const char next = first_character(rest);
  return next == '(' || next == '<' ||
         (next == ')' && first_character(rest.substr(rest.find(')') + 1)) == '(');
}

// Part of >=, == and the like.
bool is_in_operator(std::string_view text, size_t at) {
  constexpr std::string_view k_before = "<>=!+-*/%&|^";
  return text[at] == '=' &&
         ((at > 0 && k_before.find(text[at - 1]) != k_none) || (at + 1 < text.size() && text[at + 1] == '='));
}

// Whether what stands at `at` is part of a statement, and not of something that gives a default: that has a
// "=" or a brace of its own before it.
bool is_in_statement(std::string_view text, size_t at) {
  constexpr std::string_view k_ends = ";{}=\"'";
  size_t begin = find_last_in_code(text.substr(0, at), k_ends);
  while (begin != k_none && is_in_operator(text, begin))
    begin = find_last_in_code(text.substr(0, begin), k_ends);
  if (begin == k_none || text[begin] == ';') return true;
  const std::string_view before = last_word(text.substr(0, begin));
  const char after = first_character(text.substr(begin + 1));
  if (text[begin] == '{')
    return is_one_of(before,
                     {")", ";", "{", "}", "else", "do", "try", "const", "noexcept", "override", "final"});
  return text[begin] == '}' && (is_of_name(after) || after == ':');
}

// From where its statement begins.
std::string_view statement_before(std::string_view text) {
  const size_t begin = find_last_in_code(text, ";{}");
  return text.substr(begin + 1);
}

// A function that reads the position of whoever calls it.
struct Reader {
  std::string_view name;
  std::string_view type;      // of which it is a member; "" for none, or where that is not known
  size_t begin = 0, end = 0;  // of the type's body
  bool operator<(const Reader& other) const { return name.data() < other.name.data(); }
};

// Behind the brace that closes the one at `open`.
size_t end_of_block(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '"' || text[at] == '\'') return text.size();  // strings hold braces too
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return text.size();
}

// `struct __attribute__((…)) name {`, without bases.
Reader reader_of(std::string_view text, std::string_view function) {
  const std::string_view before = text.substr(0, static_cast<size_t>(function.data() - text.data()));
  const size_t body = open_bracket(before, "{}", "\"'");
  if (body == k_none) return {function, "", 0, 0};
  const size_t head = find_last_in_code(before.substr(0, body), ";{}");
  const std::string_view type = last_word(before.substr(0, body));
  const std::string_view begin = before.substr(head + 1, body - head - 1);
  const bool is_type = !mentions_of("struct", begin).empty() || !mentions_of("class", begin).empty();
  const bool is_plain = begin.find_first_of(":<") == k_none && !type.empty() && is_of_name(type.front());
  const bool is_member = mentions_of("friend", statement_before(before)).empty();
  return {function, is_type && is_plain && is_member ? type : "", body, end_of_block(text, body)};
}

// As a base, by its name or by another: then its functions have no name before them in other types too.
bool may_be_base(std::string_view type, std::string_view text) {
  const std::vector<size_t> mentions = mentions_of(type, text);
  return std::any_of(mentions.begin(), mentions.end(), [&](size_t at) {
    const std::string_view before = last_word(text.substr(0, at));
    const std::string_view statement = statement_before(text.substr(0, at));
    if (!mentions_of("using", statement).empty() || !mentions_of("typedef", statement).empty()) return true;
    const bool is_qualified = text.substr(0, at).ends_with("::");
    return is_one_of(before, {"public", "private", "protected", "virtual"}) ||
           (before == ":" && !is_qualified) ||
           (first_character(text.substr(at + type.size())) == '{' && before == ",");
  });
}

// Whether what is called by this name at `at` may be the function. Outside of its type a member is called
// with something before its name: type::name(), object.name().
bool may_call(const Reader& reader, std::string_view text, size_t at) {
  if (!is_call(text, at + reader.name.size())) return false;
  const std::string_view before = last_word(text.substr(0, at));
  return reader.type.empty() || is_one_of(before, {":", ".", ">"}) || (reader.begin < at && at < reader.end);
}

// Where positions are read, in order; nullopt where that is not known.
std::optional<std::set<size_t>> readers(std::string_view text) {
  std::set<size_t> places;
  std::set<Reader> functions;
  for (const char* builtin : {"__builtin_LINE", "__builtin_COLUMN", "__builtin_source_location"})
    for (const size_t at : mentions_of(builtin, text)) {
      places.insert(at);
      const std::string_view function = function_with_default(text, at);
      if (function.empty()) return std::nullopt;
      functions.insert(reader_of(text, function));
    }
  for (const Reader& function : functions) {
    if (!function.type.empty() && may_be_base(function.type, text)) return std::nullopt;
    for (const size_t at : mentions_of(function.name, text)) {
      if (text.data() + at == function.name.data() || !may_call(function, text, at)) continue;
      if (!is_in_statement(text, at)) return std::nullopt;
      places.insert(at);
    }
  }
  return places;
}

}  // namespace

std::optional<std::set<std::string>> files_whose_lines_are_read(std::string_view text) {
  const auto places = readers(text);
  if (!places) return std::nullopt;
  std::set<std::string> files;
  LineMarker marker;
  CodeLines lines(text);
  auto place = places->begin();
  while (place != places->end()) {
    const auto line = lines.next();
    if (const auto next = read_line_marker(*line, marker)) marker = *next;
    const size_t end = static_cast<size_t>(line->data() - text.data()) + line->size();
    for (; place != places->end() && *place < end; ++place)
      files.emplace(marker.file);
  }
  return files;
}

}  // namespace dsbuild
