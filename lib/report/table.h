// Renders tables and wrapped lines, no wider than the terminal (Style::columns; 0: any width).
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace dsbuild {

using TableRow = std::vector<std::string>;

struct Table {
  TableRow titles{};  // of the columns; empty: no line of titles
  std::vector<TableRow> rows{};
};

// Two blanks between columns, none at the end of a line. Each column is as wide as its longest cell. If the
// table is wider than the terminal, the widest columns are wrapped. If they would become too narrow, each
// cell gets a line of its own, after its title. "" without rows.
std::string render_table(const Table& table, const Style& style);

// Breaks longer lines at blanks and indents the continuations. Words stay whole, and so do lines that users
// type or copy: fixes and next commands.
std::string wrapped_lines(std::string_view text, size_t columns);
// Text that starts in column `begin`: wraps it, and indents all lines but the first to that column.
std::string hanging(std::string_view text, size_t begin, size_t columns);

}  // namespace dsbuild
