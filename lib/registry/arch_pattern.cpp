#include "registry/arch_pattern.h"

#include <algorithm>
#include <array>

#include "arch/vendor.h"

namespace dsbuild {
namespace {

struct Operator {
  std::string_view text;
  Comparison comparison;
};
// Longer operators first: ">=" is not ">" followed by "=".
constexpr std::array k_operators = {Operator{">=", Comparison::at_least}, Operator{"<=", Comparison::at_most},
                                    Operator{"==", Comparison::equal}, Operator{">", Comparison::above},
                                    Operator{"<", Comparison::below}};

bool compare(Comparison comparison, const Target& a, const Target& b) {
  switch (comparison) {
    case Comparison::at_least:
      return a >= b;
    case Comparison::above:
      return a > b;
    case Comparison::at_most:
      return a <= b;
    case Comparison::below:
      return a < b;
    case Comparison::equal:
      break;
  }
  return a == b;
}

}  // namespace

std::optional<Target> parse_bound(std::string_view text) {
  const std::optional<Target> target = parse_target(text);
  return target && target->vendor->is_ordered() && *target == target->base() ? target : std::nullopt;
}

std::optional<ArchPattern> parse_arch_pattern(std::string_view text) {
  constexpr std::string_view k_real = "-real";
  const bool is_real = text.ends_with(k_real);
  if (is_real) text.remove_suffix(k_real.size());
  const std::optional<Target> target = parse_target(text);
  if (!target || (is_real && target->is_virtual())) return std::nullopt;
  return ArchPattern{*target, !is_real && !target->is_virtual()};
}

std::optional<ArchCondition> parse_arch_condition(std::string_view text) {
  for (const Operator& op : k_operators) {
    if (!text.starts_with(op.text)) continue;
    const auto bound = parse_bound(trim(text.substr(op.text.size())));
    return bound ? std::optional(ArchCondition{op.comparison, {*bound}}) : std::nullopt;
  }
  const auto pattern = parse_arch_pattern(text);
  return pattern ? std::optional(ArchCondition{std::nullopt, *pattern}) : std::nullopt;
}

bool ArchCondition::holds_for(const Target& target) const {
  if (!comparison) return pattern.matches(target);
  return target.vendor == pattern.target.vendor && compare(*comparison, target.base(), pattern.target);
}

bool ArchPattern::matches(const Target& other) const {
  return target.stands_for(any_kind ? other.machine() : other);
}

std::string ArchPattern::text() const {
  return target.text() + (any_kind || target.is_virtual() ? "" : "-real");
}

}  // namespace dsbuild
