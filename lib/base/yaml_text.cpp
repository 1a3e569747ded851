#include "base/yaml_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace dsbuild {
namespace {

constexpr size_t k_max_bytes = size_t{256} * 1024;

YamlTextFault fault_at(std::string_view text, size_t at, std::string what, std::string fix) {
  const std::string_view before = text.substr(0, at);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(at - line_start) + 1, std::move(what), std::move(fix)};
}

bool is_bad_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == '\x7f';
}

// How a UTF-8 sequence starts, how long it is, and the smallest code point that needs it.
struct Utf8Form {
  unsigned char mask;
  unsigned char lead;
  size_t length;
  uint32_t smallest;
};
constexpr std::array<Utf8Form, 4> k_utf8_forms{
    {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}}};

uint32_t code_point(std::string_view sequence, const Utf8Form& form) {
  uint32_t code = static_cast<unsigned char>(sequence[0]) & static_cast<unsigned char>(~form.mask);
  for (const char c : sequence.substr(1))
    code = (code << 6) | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// The length of the UTF-8 sequence that `text` starts with; 0 when it is none.
size_t utf8_length(std::string_view text) {
  for (const Utf8Form& form : k_utf8_forms) {
    if ((static_cast<unsigned char>(text[0]) & form.mask) != form.lead) continue;
    const std::string_view sequence = text.substr(0, form.length);
    if (sequence.size() < form.length) return 0;
    if (!std::all_of(sequence.begin() + 1, sequence.end(), is_continuation)) return 0;
    const uint32_t code = code_point(sequence, form);
    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < form.smallest || code > 0x10ffff || is_surrogate ? 0 : form.length;
  }
  return 0;
}

std::optional<YamlTextFault> find_bad_character(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (is_bad_control(text[at])) {
      constexpr std::string_view k_digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(text[at]);
      return fault_at(
          text, at,
          std::string("control character 0x") + k_digits[byte >> 4] + k_digits[byte & 15] + " in the file",
          "remove it; the file must be plain text");
    }
    const size_t length = utf8_length(text.substr(at));
    if (length == 0) return fault_at(text, at, "this is not UTF-8", "save the file as UTF-8");
    at += length;
  }
  return std::nullopt;
}

std::optional<YamlTextFault> find_tab_indent(std::string_view text) {
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    const size_t word = line.find_first_not_of(" \t\r");
    const size_t tab = line.substr(0, word == line.npos ? 0 : word).find('\t');
    if (tab != line.npos) {
      return fault_at(text, start + tab, "a tab in the indentation", "indent with spaces");
    }
    start = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<YamlTextFault> find_yaml_text_fault(std::string_view text) {
  if (text.size() > k_max_bytes) {
    return YamlTextFault{1, 1,
                         "the file has " + std::to_string(text.size()) + " bytes; at most 262144 are read",
                         "split it into smaller files"};
  }
  if (auto fault = find_bad_character(text)) return fault;
  return find_tab_indent(text);
}

}  // namespace dsbuild
