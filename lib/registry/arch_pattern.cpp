#include "registry/arch_pattern.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dsbuild {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
  text.remove_suffix(suffix.size());
  return true;
}

struct Operator {
  std::string_view text;
  Comparison comparison;
};
// Longer operators first: ">=" is not ">" followed by "=".
constexpr std::array k_operators = {Operator{">=", Comparison::at_least}, Operator{"<=", Comparison::at_most},
                                    Operator{"==", Comparison::equal}, Operator{">", Comparison::above},
                                    Operator{"<", Comparison::below}};

bool compare(Comparison comparison, ComputeCapability a, ComputeCapability b) {
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

std::optional<ComputeCapability> parse_cc(std::string_view text) {
  const size_t dot = text.find('.');
  const bool well_formed = (dot == 1 || dot == 2) && text.size() == dot + 2 && is_digit(text[0]) &&
                           is_digit(text[dot - 1]) && is_digit(text[dot + 1]);
  if (!well_formed) return std::nullopt;
  return ComputeCapability{std::stoi(std::string(text.substr(0, dot))), text[dot + 1] - '0'};
}

std::optional<ArchPattern> parse_arch_pattern(std::string_view text) {
  ArchPattern pattern;
  if (drop_suffix(text, "-real")) {
    pattern.kind = CodeKind::real;
  } else if (drop_suffix(text, "-virtual")) {
    pattern.kind = CodeKind::ptx;
  }
  if (drop_suffix(text, "a")) {
    pattern.suffix = Suffix::a;
  } else if (drop_suffix(text, "f")) {
    pattern.suffix = Suffix::f;
  }
  const std::optional<ComputeCapability> cc = parse_cc(text);
  if (!cc) return std::nullopt;
  pattern.cc = *cc;
  return pattern;
}

std::optional<ArchCondition> parse_arch_condition(std::string_view text) {
  ArchCondition condition;
  for (const Operator& op : k_operators) {
    if (text.substr(0, op.text.size()) != op.text) continue;
    const auto cc = parse_cc(trim(text.substr(op.text.size())));
    if (!cc) return std::nullopt;
    condition.comparison = op.comparison;
    condition.pattern.cc = *cc;
    return condition;
  }
  const auto pattern = parse_arch_pattern(text);
  if (!pattern) return std::nullopt;
  condition.pattern = *pattern;
  return condition;
}

bool ArchCondition::holds_for(const Target& target) const {
  return comparison ? compare(*comparison, target.cc, pattern.cc) : pattern.matches(target);
}

bool ArchPattern::matches(const Target& target) const {
  return target.cc == cc && target.suffix == suffix && (!kind || target.kind == *kind);
}

std::string ArchPattern::text() const {
  Target real{cc, suffix, CodeKind::real};
  if (!kind) return real.dotted();
  return real.dotted() + (*kind == CodeKind::real ? "-real" : "-virtual");
}

}  // namespace dsbuild
