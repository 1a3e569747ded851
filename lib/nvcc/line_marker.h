// Parses a preprocessor's line markers: `# 12 "pack/a.cu" 1 3`.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace dsbuild {

// The position of the text after a marker.
struct LineMarker {
  std::string_view file;   // in quotes
  std::string_view flags;  // 1: enters the file, 2: returns to it, 3: it is the system's, 4: and C
  size_t line = 0;         // of the text after the marker

  bool changes_file() const { return flags.find_first_of("12") != std::string_view::npos; }
  // The flags that are valid for the whole text: 3 and 4.
  std::string_view kind() const {
    const size_t rest = flags.find_first_of("34");
    return rest == std::string_view::npos ? std::string_view() : flags.substr(rest);
  }
};

// nullopt if the line is no marker. A marker without a file continues the file of `last`.
inline std::optional<LineMarker> read_line_marker(std::string_view line, const LineMarker& last) {
  if (!line.starts_with("# ")) return std::nullopt;
  const size_t number_end = line.find_first_not_of("0123456789", 2);
  if (number_end == 2 || number_end == std::string_view::npos) return std::nullopt;
  size_t number = 0;
  std::from_chars(line.data() + 2, line.data() + number_end, number);
  if (line[number_end] == '\n') return LineMarker{last.file, last.kind(), number};
  const size_t first = line.find('"'), second = line.rfind('"');
  if (first != number_end + 1 || second == first) return std::nullopt;
  const std::string_view flags = line.substr(second + 1);
  return LineMarker{line.substr(first, second + 1 - first), flags.substr(0, flags.find('\n')), number};
}

}  // namespace dsbuild
