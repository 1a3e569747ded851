// Columns of text, each as wide as its longest cell. Colours are added by the caller around whole lines.
#pragma once

#include <string>
#include <vector>

namespace dsbuild {

using TableRow = std::vector<std::string>;
// Two blanks between columns, none at the end of a line.
std::vector<std::string> render_table(const std::vector<TableRow>& rows);

}  // namespace dsbuild
