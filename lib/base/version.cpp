#include "base/version.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace dsbuild {
namespace {

enum class Operator { equal, not_equal, at_least, at_most, less, greater, compatible };

struct OperatorSpelling {
  std::string_view text;
  Operator meaning;
};

// Longer spellings first: "<=" would else read as "<".
constexpr std::array<OperatorSpelling, 7> k_operators{{{">=", Operator::at_least},
                                                       {"<=", Operator::at_most},
                                                       {"==", Operator::equal},
                                                       {"!=", Operator::not_equal},
                                                       {"~=", Operator::compatible},
                                                       {">", Operator::greater},
                                                       {"<", Operator::less}}};

struct Clause {
  Operator meaning = Operator::equal;
  Version version;
};

constexpr std::string_view k_digits = "0123456789", k_separators = ".-_";

void skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

void skip_separator(std::string_view& text) {
  if (!text.empty() && k_separators.find(text[0]) != text.npos) text.remove_prefix(1);
}

// "rc1", ".post2", "-1", ".dev20260101": takes one such part away; false where there is none.
bool skip_suffix(std::string_view& text) {
  // Of two that begin alike the longer comes first.
  constexpr std::array<std::string_view, 11> words = {"alpha", "a", "beta", "b",   "preview", "pre",
                                                      "rc",    "c", "post", "rev", "dev"};
  std::string_view rest = text;
  skip_separator(rest);
  const auto word =
      std::ranges::find_if(words, [&](std::string_view each) { return rest.starts_with(each); });
  if (word == words.end()) {
    if (text.size() < 2 || text[0] != '-' || k_digits.find(text[1]) == text.npos) return false;
    rest = text.substr(1);
  } else {
    rest.remove_prefix(word->size());
    if (rest.size() > 1 && k_digits.find(rest[1]) != rest.npos) skip_separator(rest);
  }
  skip(rest, k_digits);
  text = rest;
  return true;
}

// "+cu130"
bool is_label(std::string_view text) {
  return text.size() > 1 && text[0] == '+' && std::ranges::all_of(text.substr(1), [](unsigned char c) {
           return std::isalnum(c) != 0 || k_separators.find(static_cast<char>(c)) != k_separators.npos;
         });
}

// "13.*" only where the parts given are compared.
std::optional<Version> parse_whole_version(std::string_view text, bool wildcard_allowed) {
  if (!wildcard_allowed || !text.ends_with(".*")) return parse_release(text);
  text.remove_suffix(2);
  return text.find_first_not_of("0123456789.") == text.npos ? parse_release(text) : std::nullopt;
}

std::optional<Clause> parse_clause(std::string_view text) {
  Clause clause;
  for (const OperatorSpelling& spelling : k_operators) {
    if (text.substr(0, spelling.text.size()) != spelling.text) continue;
    clause.meaning = spelling.meaning;
    text.remove_prefix(spelling.text.size());
    break;
  }
  const bool by_parts = clause.meaning == Operator::equal || clause.meaning == Operator::not_equal;
  const auto version = parse_whole_version(trim(text), by_parts);
  if (!version || (clause.meaning == Operator::compatible && version->parts.size() < 2)) return std::nullopt;
  clause.version = *version;
  return clause;
}

bool has_parts_of(const Version& version, const Version& wanted) {
  Version cut = version;
  cut.parts.resize(wanted.parts.size());
  return cut == wanted;
}

bool holds(const Clause& clause, const Version& version) {
  switch (clause.meaning) {
    case Operator::equal:
      return has_parts_of(version, clause.version);
    case Operator::not_equal:
      return !has_parts_of(version, clause.version);
    case Operator::at_least:
      return version >= clause.version;
    case Operator::at_most:
      return version <= clause.version;
    case Operator::less:
      return version < clause.version;
    case Operator::greater:
      return version > clause.version;
    case Operator::compatible: {
      Version series = clause.version;
      series.parts.pop_back();
      return version >= clause.version && has_parts_of(version, series);
    }
  }
  return false;
}

// nullopt when a clause cannot be read, or when there is none.
std::optional<std::vector<Clause>> parse_clauses(std::string_view text) {
  std::vector<Clause> clauses;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const auto clause = parse_clause(trim(text.substr(start, end - start)));
    if (!clause) return std::nullopt;
    clauses.push_back(*clause);
    start = end + 1;
  }
  return clauses;
}

}  // namespace

const char* const k_version = DSBUILD_VERSION;

std::string Version::text() const {
  std::vector<std::string> numbers;
  for (const int part : parts)
    numbers.push_back(std::to_string(part));
  return join(numbers, ".");
}

std::string Version::short_text() const {
  return std::to_string(major()) + "." + std::to_string(minor());
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  const size_t count = std::max(a.parts.size(), b.parts.size());
  for (size_t i = 0; i < count; ++i) {
    const int left = i < a.parts.size() ? a.parts[i] : 0;
    const int right = i < b.parts.size() ? b.parts[i] : 0;
    if (left != right) return left <=> right;
  }
  return std::strong_ordering::equal;
}

std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int part = 0;
    const auto [next, error] = std::from_chars(at, end, part);
    if (*at == '-' || error != std::errc{}) break;
    version.parts.push_back(part);
    at = next;
    if (at == end || *at != '.') break;
    ++at;
  }
  return version.empty() ? std::nullopt : std::optional(version);
}

std::optional<Version> parse_release(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const auto version = parse_version(text);
  if (!version) return std::nullopt;
  std::string_view rest = text;
  for (size_t i = 0; i < version->parts.size(); ++i) {
    if (i > 0) rest.remove_prefix(1);
    skip(rest, k_digits);
  }
  while (skip_suffix(rest)) {
  }
  return rest.empty() || is_label(rest) ? version : std::nullopt;
}

bool VersionRange::contains(const Version& version) const {
  const auto clauses = parse_clauses(text);
  return clauses && std::all_of(clauses->begin(), clauses->end(),
                                [&](const Clause& clause) { return holds(clause, version); });
}

Result<VersionRange> parse_version_range(std::string_view text, std::string where) {
  if (parse_clauses(text)) return VersionRange{std::string(text)};
  return fail(Exit::usage, "bad_version_range", std::move(where),
              "'" + printable(text) + "' is not a range of versions",
              "write it like \">=11.0\", \"==13.*\", \"~=2.1\" or \">=0.1.15,<0.2\"");
}

}  // namespace dsbuild
