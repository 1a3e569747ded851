// What a YAML file may not hold as text, whatever its structure: too many bytes, control characters,
// broken UTF-8, tabs as indent. yaml-cpp would replace, drop or end at some of these without a word.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dsbuild {

struct YamlTextFault {
  int line = 1;  // 1-based
  int column = 1;
  std::string what;
  std::string fix;
};

std::optional<YamlTextFault> find_yaml_text_fault(std::string_view text);

}  // namespace dsbuild
