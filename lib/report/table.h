// Columns of text, and lines of it, that are no wider than the terminal (Style::columns; 0: any width will
// do).
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace dsbuild {

using TableRow = std::vector<std::string>;

struct Table {
  TableRow titles{};  // of the columns; none: the cells say by themselves what they are
  std::vector<TableRow> rows{};
};

// Two blanks between columns, none at the end of a line. Each column is as wide as its longest cell; where
// all are wider than the terminal, the widest cells are wrapped; where that would leave too little of them,
// each cell has a line of its own, after its title. "" without rows.
std::string render_table(const Table& table, const Style& style);

// Lines that are wider are broken at blanks and go on below, indented. A word stays whole, and so does what
// is to be typed as it is: fixes and next commands.
std::string wrapped_lines(std::string_view text, size_t columns);
// What stands from column `begin` on: its lines but the first are indented so far, and wrapped there.
std::string hanging(std::string_view text, size_t begin, size_t columns);

}  // namespace dsbuild
