// Parses the patterns of `archs:` and the conditions of `when:`. Private to this stage.
//   pattern   = target ["-real"]                           9.0a, 9.0a-real, 9.0a-virtual
//   condition = [">=" | ">" | "<=" | "<" | "=="] bound | pattern
// A target is in the syntax of parse_target (arch/target.h). A bound is a target without suffix: 8.0, 12.1.
#pragma once

#include <optional>
#include <string_view>

#include "registry/op_spec.h"

namespace dsbuild {

std::optional<Target> parse_bound(std::string_view text);
std::optional<ArchPattern> parse_arch_pattern(std::string_view text);

enum class Comparison { at_least, above, at_most, below, equal };
// The condition of any_arch and every_arch on one target: a comparison of its arch, or a pattern.
struct ArchCondition {
  std::optional<Comparison> comparison;
  ArchPattern pattern;  // for a comparison: its bound
  bool holds_for(const Target& target) const;
};
std::optional<ArchCondition> parse_arch_condition(std::string_view text);

}  // namespace dsbuild
