// Finds the ends of C++ tokens: the part of a lexer that tells code from strings.
#pragma once

#include <string_view>
#include <vector>

namespace dsbuild {

bool is_of_name(char c);  // a letter, a digit or "_"
bool is_digit(char c);
bool is_beyond_ascii(char c);

// The position after the name or number that begins at `at`; a number may have digit separators: 1'000.
size_t end_of_name(std::string_view text, size_t at);
size_t end_of_number(std::string_view text, size_t at);

// The position after the string or character whose first quote stands at `at`; the line's end if it does not
// end in the line.
size_t end_of_string(std::string_view line, size_t at);

// The positions at which the name is a whole word.
std::vector<size_t> mentions_of(std::string_view name, std::string_view text);

// Whether a quote after this name begins a raw string.
bool is_raw_prefix(std::string_view name);
// The position after R"mark(…)mark" whose first quote stands at `quote`; npos if it does not end.
size_t end_of_raw_string(std::string_view text, size_t quote);

}  // namespace dsbuild
