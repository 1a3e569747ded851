#include <algorithm>

#include "registry/op_spec.h"

namespace dsbuild {
namespace {

std::string pattern_texts(const std::vector<ArchPattern>& patterns) {
  std::vector<std::string> texts;
  texts.reserve(patterns.size());
  for (const ArchPattern& pattern : patterns)
    texts.push_back(pattern.text());
  return join(texts, " ");
}

bool any_matches(const std::vector<ArchPattern>& patterns, const Target& target) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const ArchPattern& pattern) { return pattern.matches(target); });
}

// What is built where `asked` was asked for. PTX is left alone unless a pattern names it: `a` and `f`
// PTX runs on no later GPU, so specialising it would lose the op's forward compatibility.
Target specialise(const std::vector<ArchPattern>& patterns, const Target& asked) {
  for (const ArchPattern& pattern : patterns)
    if (pattern.target.plain() == asked) return pattern.target;
  return asked;
}

// Why the filter drops a target; "" when it keeps it.
std::string drop_reason(const ArchFilter& filter, const Target& target) {
  if (filter.min && target.base() < *filter.min) return "needs >= " + filter.min->text();
  if (filter.max && target.base() > *filter.max) return "needs <= " + filter.max->text();
  if (!filter.only.empty() && !any_matches(filter.only, target)) return "only " + pattern_texts(filter.only);
  if (any_matches(filter.exclude, target)) return "excludes " + pattern_texts(filter.exclude);
  return "";
}

}  // namespace

std::string ArchFilter::text() const {
  std::vector<std::string> parts;
  if (min) parts.push_back(">= " + min->text());
  if (max) parts.push_back("<= " + max->text());
  if (!only.empty()) parts.push_back("only " + pattern_texts(only));
  if (!exclude.empty()) parts.push_back("not " + pattern_texts(exclude));
  if (!specialise.empty()) parts.push_back("specialises as " + pattern_texts(specialise));
  return join(parts, ", ");
}

FilteredArchs apply_filter(const ArchFilter& filter, const ArchSet& requested) {
  FilteredArchs result;
  for (const Target& asked : requested) {
    const Target target = specialise(filter.specialise, asked);
    if (std::string reason = drop_reason(filter, target); !reason.empty()) {
      result.dropped.push_back({asked, std::move(reason)});
      continue;
    }
    result.kept.insert(target);
    if (target != asked) result.specialised[target] = asked;
  }
  return result;
}

}  // namespace dsbuild
