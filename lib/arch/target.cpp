#include "arch/target.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace dsbuild {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string suffix_text(Suffix suffix) {
  switch (suffix) {
    case Suffix::a:
      return "a";
    case Suffix::f:
      return "f";
    case Suffix::none:
      break;
  }
  return "";
}

std::string digits(const Target& target) {
  return std::to_string(target.cc.major) + std::to_string(target.cc.minor) + suffix_text(target.suffix);
}

// "90a" -> 9.0 and a. A CC has one digit of minor and one or two of major.
std::optional<Target> parse_digits(std::string_view text) {
  Target target;
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    target.suffix = text.back() == 'a' ? Suffix::a : Suffix::f;
    text.remove_suffix(1);
  }
  const bool well_formed = (text.size() == 2 || text.size() == 3) && text[0] != '0' &&
                           std::all_of(text.begin(), text.end(), is_digit);
  if (!well_formed) return std::nullopt;
  const int number = std::stoi(std::string(text));
  target.cc = {number / 10, number % 10};
  return target;
}

bool has(const ArchSet& set, Target target, CodeKind kind) {
  target.kind = kind;
  return set.count(target) > 0;
}

}  // namespace

std::string ComputeCapability::text() const {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string Target::name() const {
  return (kind == CodeKind::real ? "sm_" : "compute_") + digits(*this);
}

std::string Target::virtual_name() const {
  return "compute_" + digits(*this);
}

std::string Target::dotted() const {
  return cc.text() + suffix_text(suffix) + (kind == CodeKind::ptx ? "-virtual" : "");
}

std::string Target::gencode() const {
  return "-gencode=arch=" + virtual_name() + ",code=" + name();
}

std::optional<Target> parse_target_name(std::string_view name) {
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, CodeKind>{"sm_", CodeKind::real}, {"compute_", CodeKind::ptx}}) {
    if (name.substr(0, prefix.size()) != prefix) continue;
    std::optional<Target> target = parse_digits(name.substr(prefix.size()));
    if (target) target->kind = kind;
    return target;
  }
  return std::nullopt;
}

ArchSet intersection(const ArchSet& a, const ArchSet& b) {
  ArchSet both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

ArchSet difference(const ArchSet& a, const ArchSet& b) {
  ArchSet rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(rest, rest.end()));
  return rest;
}

ArchSet union_of(const ArchSet& a, const ArchSet& b) {
  ArchSet all = a;
  all.insert(b.begin(), b.end());
  return all;
}

std::vector<std::string> arch_strings(const ArchSet& set) {
  std::vector<std::string> texts;
  for (const Target& target : set) {
    if (target.kind == CodeKind::real) {
      texts.push_back(target.dotted() + (has(set, target, CodeKind::ptx) ? "+PTX" : ""));
    } else if (!has(set, target, CodeKind::real)) {
      texts.push_back(target.dotted());
    }
  }
  return texts;
}

std::string arch_text(const ArchSet& set) {
  return set.empty() ? "none" : join(arch_strings(set), " ");
}

std::string arch_list(const ArchSet& set) {
  return join(arch_strings(set), ";");
}

std::string target_names(const ArchSet& set) {
  std::vector<std::string> names;
  for (const Target& target : set)
    names.push_back(target.name());
  return join(names, " ");
}

Runs runs_on(const Target& target, ComputeCapability gpu) {
  const bool real = target.kind == CodeKind::real;
  const Runs if_it_fits = real ? Runs::natively : Runs::by_ptx;
  switch (target.suffix) {
    case Suffix::a:
      return gpu == target.cc ? if_it_fits : Runs::not_at_all;
    case Suffix::f:
      return same_family(target.cc, gpu) ? if_it_fits : Runs::not_at_all;
    case Suffix::none:
      break;
  }
  const bool fits = gpu >= target.cc && (!real || gpu.major == target.cc.major);
  return fits ? if_it_fits : Runs::not_at_all;
}

Runs runs_on(const ArchSet& set, ComputeCapability gpu) {
  Runs best = Runs::not_at_all;
  for (const Target& target : set)
    best = std::min(best, runs_on(target, gpu));
  return best;
}

}  // namespace dsbuild
