#include "base/place.h"

#include <charconv>

namespace dsbuild {
namespace {

// Takes a number from the front of `text`; 0 when there is none.
int take_number(std::string_view& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number <= 0) return 0;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// What follows the file: ":3", ":3:7" or "(3)", and then nothing or a ':'.
std::optional<Place> parse_numbers(std::string_view rest) {
  Place place;
  const bool in_brackets = rest.front() == '(';
  rest.remove_prefix(1);
  place.line = take_number(rest);
  if (place.line == 0) return std::nullopt;
  if (in_brackets) {
    if (rest.empty() || rest.front() != ')') return std::nullopt;
    rest.remove_prefix(1);
  } else if (rest.size() > 1 && rest.front() == ':') {
    std::string_view column = rest.substr(1);
    place.column = take_number(column);
    if (place.column > 0) rest = column;
  }
  if (!rest.empty() && rest.front() != ':') return std::nullopt;
  return place;
}

}  // namespace

std::optional<std::filesystem::path> path_below(const std::filesystem::path& folder,
                                                const std::filesystem::path& file) {
  std::filesystem::path near = file.lexically_relative(folder);
  return near.empty() || *near.begin() == ".." ? std::nullopt : std::optional(std::move(near));
}

std::optional<Place> parse_place(std::string_view line) {
  size_t at = line.find_first_of(":(");
  if (at == 0) return std::nullopt;
  for (; at != std::string_view::npos; at = line.find_first_of(":(", at + 1)) {
    if (auto place = parse_numbers(line.substr(at))) {
      place->file = line.substr(0, at);
      return place;
    }
  }
  return std::nullopt;
}

}  // namespace dsbuild
