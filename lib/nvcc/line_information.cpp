#include "nvcc/line_information.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/text.h"
#include "nvcc/arch_tagged_symbols.h"
#include "nvcc/code_lines.h"
#include "nvcc/line_marker.h"

namespace dsbuild {
namespace {

// In a line of .debug_str: NVVM 7, and the newer one for compute_100 and later (CUDA 13.0).
constexpr std::array<size_t, 2> k_numbers_in_line = {40, 1};
constexpr std::string_view k_numbers = ".b8 ";

std::string line_of(std::string_view file, std::string_view number) {
  const size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" +
         std::string(number);
}

bool has_code_behind_name(std::string_view line, std::string_view list) {
  const auto end = behind_list_name(line, list);
  return end && line.find_first_not_of(" \t\n{", *end) != std::string_view::npos;
}

// The numbers of `.file` → the names; `.file 1 "/usr/a.h", 16, 123` has time and size behind it.
std::map<std::string, std::string> files_of(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> files;
  for (const std::string& line : lines) {
    const size_t first = line.find('"'), second = line.rfind('"');
    if (first == std::string::npos) continue;
    const auto words = split(line.substr(0, first), " \t");
    if (words.size() == 2 && words.front() == ".file" && second != first)
      files[words.back()] = line.substr(first + 1, second - first - 1);
  }
  return files;
}

std::string lines_of_numbers(std::string_view bytes, size_t in_line) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    text += i % in_line == 0 ? (i == 0 ? "" : "\n") + std::string(k_numbers) : ",";
    text += std::to_string(static_cast<unsigned char>(bytes[i]));
  }
  return text + "\n";
}

std::optional<std::string> bytes_of_numbers(std::string_view lines) {
  std::string bytes;
  for (const std::string& line : split_lines(lines))
    for (const std::string& number : split(line.substr(k_numbers.size()), ",")) {
      const auto byte = whole_number<unsigned char>(number);
      if (!byte) return std::nullopt;
      bytes += static_cast<char>(*byte);
    }
  return bytes;
}

std::optional<std::string> numbers_with_list(std::string_view lines, const std::string& from,
                                             const std::string& to) {
  const auto bytes = bytes_of_numbers(lines);
  const auto changed = bytes ? with_list(*bytes, from, to) : std::nullopt;
  if (!changed) return std::nullopt;
  for (const size_t in_line : k_numbers_in_line)
    if (lines_of_numbers(*bytes, in_line) == lines) return lines_of_numbers(*changed, in_line);
  return std::nullopt;
}

// Each run of lines of numbers is a string.
std::optional<std::string> strings_with_list(std::string_view section, const std::string& from,
                                             const std::string& to) {
  std::string changed;
  for (size_t at = 0; at < section.size();) {
    const size_t begin = at;
    const auto line = [&] { return section.substr(at, section.find('\n', at) - at); };
    while (at < section.size() && line().starts_with(k_numbers))
      at = std::min(at + line().size() + 1, section.size());
    if (at > begin) {
      const auto numbers = numbers_with_list(section.substr(begin, at - begin), from, to);
      if (!numbers) return std::nullopt;
      changed += *numbers;
    } else {
      at = std::min(at + line().size() + 1, section.size());
      changed += section.substr(begin, at - begin);
    }
  }
  return changed;
}

}  // namespace

Lines lines_with_code_behind_names(std::string_view text, std::string_view list) {
  Lines found;
  LineMarker place;
  CodeLines lines(text);
  while (const auto line = lines.next()) {
    if (const auto marker = read_line_marker(*line, place)) {
      place = *marker;
      continue;
    }
    if (has_code_behind_name(*line, list) && place.file.size() > 1)
      found.insert(line_of(place.file.substr(1, place.file.size() - 2), std::to_string(place.line)));
    place.line += static_cast<size_t>(std::ranges::count(*line, '\n'));
  }
  return found;
}

bool has_code_of(std::string_view ptx, const Lines& lines) {
  if (lines.empty()) return false;
  const std::vector<std::string> text = split_lines(ptx);
  const std::map<std::string, std::string> files = files_of(text);
  const auto is_of = [&](const std::string& file, const std::string& line) {
    const auto name = files.find(file);
    return name == files.end() || lines.contains(line_of(name->second, line));
  };
  return std::ranges::any_of(text, [&](const std::string& line) {
    const std::vector<std::string> words = split(line, " \t,");
    if (words.size() < 3 || words.front() != ".loc") return false;
    const auto inlined = std::ranges::find(words, "inlined_at");
    return is_of(words[1], words[2]) || (words.end() - inlined > 2 && is_of(inlined[1], inlined[2]));
  });
}

std::optional<std::string> ptx_with_list(std::string_view ptx, const std::string& from,
                                         const std::string& to) {
  const size_t section = std::min(ptx.find("\t.section\t.debug_str\n"), ptx.size());
  auto code = with_list(ptx.substr(0, section), from, to);
  const auto strings = code ? strings_with_list(ptx.substr(section), from, to) : std::nullopt;
  return strings ? std::optional(*code + *strings) : std::nullopt;
}

}  // namespace dsbuild
