// The parts of text.h that know what a terminal obeys.
#include <algorithm>
#include <array>

#include "base/text.h"

namespace dsbuild {
namespace {

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

// A character of UTF-8; no bytes: none begins there.
struct Character {
  char32_t code = 0;
  size_t bytes = 0;
};

struct Utf8Row {
  unsigned char first, last;  // of the leading byte
  size_t bytes;
  char32_t least;  // a smaller one has a shorter form, which alone is valid
};
constexpr Utf8Row k_utf8[] = {{0xc2, 0xdf, 2, 0x80}, {0xe0, 0xef, 3, 0x800}, {0xf0, 0xf4, 4, 0x10000}};

bool is_surrogate(char32_t code) {
  return code >= 0xd800 && code <= 0xdfff;
}

Character read_character(std::string_view text, const Utf8Row& row) {
  if (text.size() < row.bytes) return {};
  char32_t code = static_cast<unsigned char>(text[0]) & (0xffU >> (row.bytes + 1));
  for (size_t i = 1; i < row.bytes; ++i) {
    if (!is_in(text[i], 0x80, 0xbf)) return {};
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  const bool is_valid = code >= row.least && code <= 0x10ffff && !is_surrogate(code);
  return is_valid ? Character{code, row.bytes} : Character{};
}

Character character_at(std::string_view text, size_t at) {
  if (is_in(text[at], 0, 0x7f)) return {static_cast<unsigned char>(text[at]), 1};
  for (const Utf8Row& row : k_utf8)
    if (is_in(text[at], row.first, row.last)) return read_character(text.substr(at), row);
  return {};
}

// C0 and C1 controls but tab and line break, DEL, what turns the direction of writing.
bool is_obeyed(char32_t code) {
  if (code == '\t' || code == '\n') return false;
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_plain(char c) {
  return is_in(c, 0x20, 0x7e) || c == '\n' || c == '\t';
}

std::string escaped_number(const char* start, char32_t number, size_t digits) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  std::string text = start;
  for (size_t i = digits; i-- > 0;)
    text += k_digits[number >> (4 * i) & 0xf];
  return text;
}

std::string escaped_code(char32_t code) {
  return code < 0x80 ? escaped_number("\\x", code, 2) : escaped_number("\\u", code, 4);
}

// How long the sequence is that sets colours (ECMA-48: SGR); 0: it is another one.
size_t colour_length(std::string_view text) {
  constexpr std::string_view k_parameters = "0123456789;:";
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of(k_parameters, 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// The same of the colours that Style in lib/report writes: nothing that hides text.
size_t own_colour_length(std::string_view text) {
  constexpr std::array<std::string_view, 7> k_own = {"\x1b[0m",  "\x1b[1m",  "\x1b[91m", "\x1b[92m",
                                                     "\x1b[93m", "\x1b[95m", "\x1b[96m"};
  const auto own = std::ranges::find_if(k_own, [&](std::string_view one) { return text.starts_with(one); });
  return own == k_own.end() ? 0 : own->size();
}

}  // namespace

std::string visible(std::string_view text, Colours colours) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const size_t colour = colours == Colours::kept ? own_colour_length(text.substr(at)) : 0;
    const size_t length = std::max({colour, character.bytes, size_t{1}});
    if (character.bytes == 0)
      shown += escaped_number("\\x", static_cast<unsigned char>(text[at]), 2);
    else if (colour == 0 && is_obeyed(character.code))
      shown += escaped_code(character.code);
    else
      shown += text.substr(at, length);
    at += length;
  }
  return shown;
}

std::string printable(std::string_view text, Colours colours) {
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    const size_t colour = colours == Colours::kept ? colour_length(text.substr(at)) : 0;
    if (text[at] == '\x1b' && colour == 0) {
      at = skip_escape(text, at);
      continue;
    }
    const Character character = character_at(text, at);
    const size_t length = std::max({colour, character.bytes, size_t{1}});
    // A byte of no character may be one of another encoding, or a control of eight bits.
    const bool goes = character.bytes == 0 ? is_in(text[at], 0x80, 0x9f) : is_obeyed(character.code);
    if (colour > 0 || !goes) kept += text.substr(at, length);
    at += length;
  }
  return kept;
}

}  // namespace dsbuild
