// Which valid entry an invalid one may have meant.
#include <algorithm>
#include <cstdlib>

#include "arch/nvidia_entry.h"
#include "base/text.h"

namespace dsbuild {
namespace {

using namespace entry_grammar;

// 90 for 9.0; a lone major ("8", "10") is read as X.0.
int rank(ComputeCapability cc) {
  return cc.major * 10 + cc.minor;
}

std::optional<int> rank_of(std::string_view number) {
  std::string digits(number.substr(0, number.find_first_not_of("0123456789.")));
  const bool has_dot = digits.find('.') != std::string::npos;
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  if (digits.empty() || digits.size() > 4) return std::nullopt;
  const int value = std::stoi(digits);
  const bool lone_major = !has_dot && value < rank(arch_table().front().cc);
  return lone_major ? value * 10 : value;
}

const ArchRow& nearest_row(int wanted, Suffix suffix) {
  const ArchRow* best = nullptr;
  for (const ArchRow& row : arch_table()) {
    if (row.first_for(suffix) == 0) continue;
    if (!best || std::abs(rank(row.cc) - wanted) < std::abs(rank(best->cc) - wanted)) best = &row;
  }
  return *best;
}

// The suffix counts only where nothing follows it: "9.0ab" has none.
Suffix suffix_of(std::string_view number) {
  const size_t after_digits = number.find_first_not_of("0123456789.");
  if (after_digits == std::string_view::npos || after_digits + 1 != number.size()) return Suffix::none;
  if (number.back() == 'a') return Suffix::a;
  return number.back() == 'f' ? Suffix::f : Suffix::none;
}

std::string_view strip_kinds(std::string_view text, Kind& first) {
  first = Kind::none;
  for (Kind kind = take_kind(text); kind != Kind::none; kind = take_kind(text))
    first = kind;
  return text;
}

std::string kind_text(Kind kind) {
  switch (kind) {
    case Kind::plus_ptx:
      return "+PTX";
    case Kind::real_only:
      return "-real";
    case Kind::ptx_only:
      return "-virtual";
    case Kind::none:
      break;
  }
  return "";
}

std::string nearest_number(std::string_view number, std::optional<CodeKind> prefix, Kind kind) {
  const std::optional<int> wanted = rank_of(number);
  if (!wanted) return "";
  const Suffix suffix = suffix_of(number);
  const Target target =
      NvidiaTarget{nearest_row(*wanted, suffix).cc, suffix, prefix.value_or(CodeKind::real)};
  if (prefix) return target.name();
  return target.text() + kind_text(kind);
}

std::string nearest_word(std::string_view word) {
  std::vector<std::string> candidates;
  for (const NameRow& row : k_names)
    candidates.emplace_back(row.name);
  for (const std::string_view known : k_words)
    candidates.emplace_back(known);
  return nearest(word, candidates);
}

}  // namespace

std::string nearest_nvidia_entry(std::string_view entry) {
  const std::string lower = to_lower(entry);
  std::string_view rest = lower;
  const std::optional<CodeKind> prefix = take_prefix(rest);
  Kind kind = Kind::none;
  rest = strip_kinds(rest, kind);
  std::string number = nearest_number(rest, prefix, kind);
  if (!number.empty()) return number;
  std::string whole = nearest_word(lower);
  return whole.empty() ? nearest_word(rest) : whole;
}

}  // namespace dsbuild
