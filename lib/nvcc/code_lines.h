// Splits preprocessed C++ into lines. A raw string or comment belongs to the line in which it begins.
#pragma once

#include <optional>
#include <string_view>

namespace dsbuild {

class CodeLines {
 public:
  explicit CodeLines(std::string_view text) : text_(text) {}

  // The next line with its line end, which may be absent in the last one; nullopt after the last.
  std::optional<std::string_view> next();

 private:
  size_t line_end(size_t begin) const;

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace dsbuild
