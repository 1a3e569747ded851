// The small languages of `archs:` and `when:`. Private to this stage.
//   cc        = digits "." digit                        8.0, 12.1
//   pattern   = cc ["a" | "f"] ["-real" | "-virtual"]   9.0a
//   condition = [">=" | ">" | "<=" | "<" | "=="] cc | pattern
#pragma once

#include <optional>
#include <string_view>

#include "registry/op_spec.h"

namespace dsbuild {

std::optional<ComputeCapability> parse_cc(std::string_view text);
std::optional<ArchPattern> parse_arch_pattern(std::string_view text);

enum class Comparison { at_least, above, at_most, below, equal };
// What any_arch and every_arch ask of one target: a comparison of its CC, or a pattern.
struct ArchCondition {
  std::optional<Comparison> comparison;
  ArchPattern pattern;  // of a comparison: its CC alone
  bool holds_for(const Target& target) const;
};
std::optional<ArchCondition> parse_arch_condition(std::string_view text);

}  // namespace dsbuild
