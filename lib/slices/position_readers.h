// Code that knows where it stands: __builtin_LINE and its like, of which std::source_location and torch's
// SourceLocation are made.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace dsbuild {

// The files (as line markers name them, in quotes) of which a line may be read by code of the preprocessed
// text; nullopt: of any. Most often a header has a function `current(int line = __builtin_LINE())`, which
// reads the line of whoever calls it: then it is the files that call a `current`. Where a call may itself be
// a default argument, or the builtin stands elsewhere, nothing is known.
std::optional<std::set<std::string>> files_whose_lines_are_read(std::string_view text);

}  // namespace dsbuild
