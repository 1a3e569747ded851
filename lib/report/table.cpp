#include "report/table.h"

#include <algorithm>
#include <numeric>

namespace dsbuild {
namespace {

constexpr size_t k_gap = 2;

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// The length of the colour that begins here; 0: none does.
size_t colour_length(std::string_view text) {
  return text.starts_with("\x1b[") ? text.find('m') + 1 : 0;
}

// Characters, not bytes, of UTF-8 text; colours take no room.
size_t width_of(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t colour = colour_length(text.substr(at));
    width += colour == 0 && begins_character(text[at]) ? 1 : 0;
    at += std::max(colour, size_t{1});
  }
  return width;
}

enum class Breaks { at_blanks, anywhere };

// Where the first line of a text that is wider than this ends: behind a blank, else behind a sign that joins
// names, else behind the last character that has room.
size_t first_line_end(std::string_view text, size_t width, Breaks breaks) {
  constexpr std::string_view k_joints = "/_,;:.=-+>)]";
  size_t column = 0, blank = 0, joint = 0;
  for (size_t at = 0; at < text.size();) {
    if (const size_t colour = colour_length(text.substr(at)); colour > 0) {
      at += colour;
      continue;
    }
    const bool is_full = column >= width && begins_character(text[at]);
    if (is_full && text[at] == ' ') return at;
    if (is_full && blank > 0 && (breaks == Breaks::at_blanks || joint < 2 * blank)) return blank;
    if (is_full && breaks == Breaks::anywhere) return joint > 0 ? joint : at;
    column += begins_character(text[at]) ? 1 : 0;
    const char sign = text[at++];
    if (sign == ' ' && column > 1) blank = at;
    if (k_joints.find(sign) != std::string_view::npos) joint = at;
  }
  return text.size();
}

std::string_view without_blanks_before(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// What follows the first line is indented by so much more than that.
std::vector<std::string> wrapped(std::string_view text, size_t width, size_t more, Breaks breaks) {
  const size_t begin = text.size() - without_blanks_before(text).size();
  const std::string first(begin, ' '), next(std::min(begin + more, width / 2), ' ');
  text.remove_prefix(begin);
  std::vector<std::string> lines;
  while (true) {
    const std::string& indent = lines.empty() ? first : next;
    const size_t room = width > indent.size() ? width - indent.size() : 1;
    const size_t end = width_of(text) <= room ? text.size() : first_line_end(text, room, breaks);
    std::string line = indent + std::string(text.substr(0, end));
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
    text = without_blanks_before(text.substr(end));
    if (text.empty()) return lines;
  }
}

std::vector<size_t> widths_of(const Table& table) {
  std::vector<size_t> widths;
  const auto add = [&](const TableRow& row) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], width_of(row[column]));
  };
  add(table.titles);
  for (const TableRow& row : table.rows)
    add(row);
  return widths;
}

size_t sum_of(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), k_gap * (widths.size() - 1));
}

// The widest columns get narrower until all have room; false: less would be left of one than can be read.
bool narrow(std::vector<size_t>& widths, size_t columns) {
  constexpr size_t k_least = 12;
  while (columns > 0 && sum_of(widths) > columns) {
    size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= k_least) return false;
    --widest;
  }
  return true;
}

std::vector<std::string> row_lines(const TableRow& row, const std::vector<size_t>& widths) {
  std::vector<std::string> lines(1);
  size_t begin = 0;
  for (size_t column = 0; column < row.size(); begin += widths[column++] + k_gap) {
    const auto cell = wrapped(row[column], widths[column], 1, Breaks::anywhere);
    lines.resize(std::max(lines.size(), cell.size()));
    for (size_t i = 0; i < cell.size(); ++i) {
      if (cell[i].empty()) continue;
      lines[i].append(begin - std::min(width_of(lines[i]), begin), ' ');
      lines[i] += cell[i];
    }
  }
  return lines;
}

// Each cell with its title, the first one further left.
std::string record_text(const TableRow& row, const TableRow& titles, size_t columns) {
  std::string text;
  for (size_t column = 0; column < row.size(); ++column) {
    if (row[column].empty()) continue;
    const bool has_title = column < titles.size() && !titles[column].empty();
    const std::string line = (text.empty() ? "" : "  ") + (has_title ? titles[column] + ": " : "") +
                             std::string(without_blanks_before(row[column]));
    text += join(wrapped(line, columns, 2, Breaks::anywhere), "\n") + "\n";
  }
  return text;
}

bool is_typed(std::string_view line) {
  const std::string_view words = without_blanks_before(line);
  return words.starts_with("fix: ") || words.starts_with("next: ");
}

std::vector<std::string> lines_within(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& line : split_lines(text)) {
    if (columns == 0 || is_typed(line) || width_of(line) <= columns)
      lines.push_back(line);
    else
      std::ranges::move(wrapped(line, columns, 2, Breaks::at_blanks), std::back_inserter(lines));
  }
  return lines;
}

}  // namespace

std::string render_table(const Table& table, const Style& style) {
  if (table.rows.empty()) return "";
  std::string text;
  std::vector<size_t> widths = widths_of(table);
  if (!narrow(widths, style.columns)) {
    for (const TableRow& row : table.rows)
      text += record_text(row, table.titles, style.columns);
    return text;
  }
  if (!table.titles.empty())
    for (const std::string& line : row_lines(table.titles, widths))
      text += style.bold(line) + "\n";
  for (const TableRow& row : table.rows)
    text += join(row_lines(row, widths), "\n") + "\n";
  return text;
}

std::string wrapped_lines(std::string_view text, size_t columns) {
  if (columns == 0) return std::string(text);
  const bool is_whole = text.ends_with('\n');
  return join(lines_within(text, columns), "\n") + (is_whole ? "\n" : "");
}

std::string hanging(std::string_view text, size_t begin, size_t columns) {
  const size_t room = columns == 0 ? 0 : std::max(columns, begin + 1) - begin;
  return join(lines_within(text, room), "\n" + std::string(begin, ' '));
}

}  // namespace dsbuild
