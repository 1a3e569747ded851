#include "arch/nvidia_entry.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace entry_grammar {

Kind take_kind(std::string_view& text) {
  for (const KindWord& word : k_kinds) {
    if (text.size() < word.text.size()) continue;
    const size_t start = text.size() - word.text.size();
    if (text.substr(start) != word.text) continue;
    text.remove_suffix(word.text.size());
    return word.kind;
  }
  return Kind::none;
}

std::optional<CodeKind> take_prefix(std::string_view& text) {
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, CodeKind>{"sm_", CodeKind::real}, {"compute_", CodeKind::ptx}}) {
    if (text.substr(0, prefix.size()) != prefix) continue;
    text.remove_prefix(prefix.size());
    return kind;
  }
  return std::nullopt;
}

}  // namespace entry_grammar

namespace {

using namespace entry_grammar;
using Fault = std::optional<std::string>;

Fault fault(std::string_view entry, const std::string& rule) {
  const std::string near = nearest_nvidia_entry(entry);
  if (near.empty()) return rule;
  return "did you mean '" + near + "'? " + rule;
}

std::string known_ccs() {
  std::vector<std::string> texts;
  for (const ArchRow& row : arch_table())
    texts.push_back(row.cc.text());
  return "known compute capabilities: " + join(texts, " ") +
         "; known names: Kepler to Rubin, X+Tegra, native, all, all-major";
}

// "8.0", "80", "9.0a" as the target of its digits; nullopt for anything else.
std::optional<NvidiaTarget> parse_number(std::string_view text) {
  std::string digits(text);
  const size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    const size_t minor = text.find_first_not_of("0123456789", dot + 1);
    const bool one_digit = std::min(minor, text.size()) == dot + 2;
    if (dot == 0 || dot > 2 || !one_digit) return std::nullopt;
    digits.erase(dot, 1);
  }
  const auto target = nvidia().parse_name("sm_" + digits);
  return target ? std::optional(nvidia_target(*target)) : std::nullopt;
}

Fault check_known(std::string_view entry, const NvidiaTarget& target) {
  const ArchRow* row = find_arch(target.cc);
  if (!row) return fault(entry, known_ccs());
  if (row->first_for(target.suffix) > 0) return std::nullopt;
  return fault(entry, "the suffix 'a' exists from 9.0 on, 'f' from 10.0 on");
}

void add(ArchSet& targets, NvidiaTarget target, Kind kind) {
  target.kind = CodeKind::real;
  if (kind != Kind::ptx_only) targets.insert(target);
  target.kind = CodeKind::ptx;
  if (kind == Kind::plus_ptx || kind == Kind::ptx_only) targets.insert(target);
}

Fault add_number(std::string_view entry, std::string_view number, Kind kind, ArchSet& targets) {
  const std::optional<NvidiaTarget> target = parse_number(number);
  if (!target) return fault(entry, known_ccs());
  if (Fault unknown = check_known(entry, *target)) return unknown;
  add(targets, *target, kind);
  return std::nullopt;
}

// `entry` without its "sm_" or "compute_" is `digits`.
Fault add_nvcc_name(std::string_view entry, std::string_view digits, CodeKind prefix, ArchSet& targets) {
  std::string_view without_kind = digits;
  if (take_kind(without_kind) != Kind::none) {
    return fault(entry,
                 "'sm_' and 'compute_' already say what to build: they take no +PTX, -real or -virtual");
  }
  const bool has_dot = digits.find('.') != std::string_view::npos;
  const std::optional<NvidiaTarget> target = has_dot ? std::nullopt : parse_number(digits);
  if (!target) return fault(entry, known_ccs());
  if (Fault unknown = check_known(entry, *target)) return unknown;
  add(targets, *target, prefix == CodeKind::real ? Kind::real_only : Kind::ptx_only);
  return std::nullopt;
}

const NameRow* find_name(std::string_view lower) {
  const auto row = std::find_if(std::begin(k_names), std::end(k_names),
                                [&](const NameRow& name) { return to_lower(name.name) == lower; });
  return row == std::end(k_names) ? nullptr : row;
}

Fault add_name(const NameRow& row, Kind kind, ArchRequest& request) {
  const std::string_view expansion = row.expansion;
  const bool has_ptx = expansion.find('+') != std::string_view::npos;
  if (kind != Kind::none && has_ptx) {
    return std::string("did you mean '") + row.name + "'? it stands for " + row.expansion +
           ", which says already what is PTX";
  }
  for (const std::string& part : split(to_lower(expansion), ";")) {
    std::string_view number = part;
    const Kind own = take_kind(number);
    add_number(part, number, own == Kind::none ? kind : own, request.targets);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> add_nvidia_entry(std::string_view entry, ArchRequest& request) {
  const std::string lower = to_lower(entry);
  std::string_view rest = lower;
  if (const std::optional<CodeKind> prefix = take_prefix(rest)) {
    return add_nvcc_name(lower, rest, *prefix, request.targets);
  }
  const Kind kind = take_kind(rest);
  if (const NameRow* name = find_name(rest)) return add_name(*name, kind, request);
  return add_number(lower, rest, kind, request.targets);
}

}  // namespace dsbuild
