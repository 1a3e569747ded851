// `archs:`, `when:` and lists of words with conditions: what several keys share.
#include <algorithm>

#include "registry/arch_pattern.h"
#include "registry/backend_kinds.h"
#include "registry/registry.h"
#include "registry/spec_reader.h"

namespace dsbuild {
namespace {

constexpr size_t k_longest_list = 1024;

// Whose `archs:` is read.
struct ArchOwner {
  std::string key;  // "archs", "archs.hip"
  const BackendKindRow& backend;
  const Vendor& vendor() const { return backend.vendor(); }
  std::string of(const char* word) const { return "'" + key + "." + word + "'"; }
};

std::string refuse_cc(const std::string& word) {
  return parse_bound(word) ? "" : "is not a compute capability (as in 8.0)";
}

// Words that any vendor's archs look like, for messages.
const char* examples_of(BackendKind kind) {
  switch (kind) {
    case BackendKind::hip:
      return "gfx90a, gfx90a:xnack+ or gfx9-4-generic";
    case BackendKind::sycl:
      return "pvc, dg2-g10 or spir64";
    case BackendKind::cuda:
    case BackendKind::cpu:
      break;
  }
  return "8.0, 9.0a, 8.0-real or 8.0-virtual";
}

WordRule refuse_pattern(const ArchOwner& owner) {
  return [&owner](const std::string& word) -> std::string {
    const auto pattern = parse_arch_pattern(word);
    if (pattern && pattern->target.vendor == &owner.vendor()) return "";
    const std::string of = pattern ? std::string(" of ") + owner.backend.key : "";
    return "is not an architecture" + of + " (as in " + examples_of(owner.backend.kind) + ")";
  };
}

std::string refuse_condition(const std::string& word) {
  return parse_arch_condition(word) ? "" : "is not a condition (as in >=8.0, <9.0, ==8.0 or 9.0a)";
}

std::string refuse_cpu(const std::string& word) {
  return word == "x86_64" || word == "aarch64" ? "" : "is not a CPU that dsbuild knows (x86_64, aarch64)";
}

std::string refuse_accelerator(const std::string& word) {
  return word == "cuda" || word == "cpu" ? "" : "is not an accelerator that dsbuild builds for (cuda, cpu)";
}

// One bound: absent stays absent.
Result<std::optional<Target>> read_bound(const SpecFile& file, const YamlNode& map, const ArchOwner& owner,
                                         const char* key) {
  const YamlNode* node = map.find(key);
  if (!node) return std::nullopt;
  if (!owner.vendor().is_ordered()) {
    return bad_spec(
        file, *node, owner.of(key) + " means nothing for " + owner.backend.key,
        "Its GPUs have no order in which each can what the ones before it can: list them in 'only'.");
  }
  DSBUILD_TRY(word, read_word(file, *node, owner.of(key), refuse_cc));
  return parse_bound(word);
}

bool by_text(const ArchPattern& a, const ArchPattern& b) {
  return a.text() < b.text();
}

Result<std::vector<ArchPattern>> read_patterns(const SpecFile& file, const YamlNode& map,
                                               const ArchOwner& owner, const char* key) {
  std::vector<ArchPattern> patterns;
  const YamlNode* node = map.find(key);
  if (!node) return patterns;
  DSBUILD_TRY(words, read_words(file, *node, owner.of(key), refuse_pattern(owner)));
  if (words.empty()) return bad_spec(file, *node, owner.of(key) + " is empty");
  for (const std::string& word : words)
    patterns.push_back(*parse_arch_pattern(word));
  std::sort(patterns.begin(), patterns.end(), by_text);
  return patterns;
}

// Two rows for one request would make the result depend on which is read first.
Result<void> check_specialise(const SpecFile& file, const YamlNode& archs, const ArchOwner& owner,
                              const std::vector<ArchPattern>& patterns) {
  for (size_t i = 0; i < patterns.size(); ++i) {
    const ArchPattern& pattern = patterns[i];
    const YamlNode& at = *archs.find("specialise");
    if (pattern.target == pattern.target.plain()) {
      const bool has_suffixes = owner.backend.kind == BackendKind::cuda;
      return bad_spec(file, at,
                      owner.of("specialise") + ": '" + pattern.text() + "' has no " +
                          (has_suffixes ? "suffix a or f" : "feature"));
    }
    for (size_t j = 0; j < i; ++j) {
      const ArchPattern& other = patterns[j];
      if (other.target.plain() != pattern.target.plain()) continue;
      return bad_spec(file, at,
                      owner.of("specialise") + " gives two forms of " + pattern.target.base().text() + ": " +
                          other.text() + " and " + pattern.text());
    }
  }
  return {};
}

using TextMember = std::string When::*;
using RangeMember = std::optional<VersionRange> When::*;

Result<void> read_when_word(const SpecFile& file, const YamlNode& map, const char* key, const WordRule& rule,
                            When& when, TextMember member) {
  const YamlNode* node = map.find(key);
  if (!node) return {};
  DSBUILD_TRY(word, read_word(file, *node, std::string("'when.") + key + "'", rule));
  when.*member = word;
  return {};
}

Result<void> read_when_range(const SpecFile& file, const YamlNode& map, const char* key, When& when,
                             RangeMember member) {
  const YamlNode* node = map.find(key);
  if (!node) return {};
  DSBUILD_TRY(range, read_range(file, *node, std::string("'when.") + key + "'"));
  when.*member = range;
  return {};
}

Result<When> read_one_when(const SpecFile& file, const YamlNode& node) {
  DSBUILD_CHECK(check_map(
      file, node, "'when'",
      {"any_arch", "every_arch", "cuda", "rocm", "torch", "source", "cpu", "cpu_level", "accelerator"}));
  if (node.entries.empty()) return bad_spec(file, node, "'when' is empty");
  When when;
  Mistakes mistakes;
  mistakes.check(read_when_word(file, node, "any_arch", refuse_condition, when, &When::any_arch));
  mistakes.check(read_when_word(file, node, "every_arch", refuse_condition, when, &When::every_arch));
  mistakes.check(read_when_word(file, node, "cpu", refuse_cpu, when, &When::cpu));
  mistakes.check(read_when_word(file, node, "accelerator", refuse_accelerator, when, &When::accelerator));
  mistakes.check(read_when_range(file, node, "cuda", when, &When::cuda));
  mistakes.check(read_when_range(file, node, "rocm", when, &When::rocm));
  mistakes.check(read_when_range(file, node, "torch", when, &When::torch));
  mistakes.check(read_when_range(file, node, "source", when, &When::source));
  mistakes.check(read_when_range(file, node, "cpu_level", when, &When::cpu_level));
  DSBUILD_CHECK(mistakes.result());
  return when;
}

Result<Entry<std::string>> read_entry(const SpecFile& file, const YamlNode& item, const std::string& owner,
                                      const WordRule& rule) {
  Entry<std::string> entry;
  entry.origin = origin_of(file, item);
  const YamlNode* value = &item;
  if (item.is_map()) {
    DSBUILD_CHECK(check_map(file, item, "an entry of " + owner, {"value", "when"}));
    value = item.find("value");
    if (!value) return bad_spec(file, item, "an entry of " + owner + " needs a 'value'");
    DSBUILD_TRY(when, read_when_of(file, item));
    entry.when = std::move(when);
  }
  DSBUILD_TRY(word, read_word(file, *value, owner, rule));
  entry.value = std::move(word);
  return entry;
}

}  // namespace

namespace {

Result<ArchFilter> read_arch_filter(const SpecFile& file, const YamlNode& node, const ArchOwner& owner) {
  const std::vector<std::string> keys = {"min", "max", "only", "exclude", "specialise"};
  DSBUILD_CHECK(check_is_map(file, node, "'" + owner.key + "'"));
  Mistakes mistakes;
  std::optional<Target> min, max;
  std::vector<ArchPattern> only, exclude, specialise;
  mistakes.check(check_map(file, node, "'" + owner.key + "'", keys));
  mistakes.take(read_bound(file, node, owner, "min"), min);
  mistakes.take(read_bound(file, node, owner, "max"), max);
  mistakes.take(read_patterns(file, node, owner, "only"), only);
  mistakes.take(read_patterns(file, node, owner, "exclude"), exclude);
  mistakes.take(read_patterns(file, node, owner, "specialise"), specialise);
  mistakes.check(check_specialise(file, node, owner, specialise));
  DSBUILD_CHECK(mistakes.result());
  if (min && max && *min > *max)
    return bad_spec(file, node, "'" + owner.key + "': min is above max, so nothing is left");
  return ArchFilter{
      min, max, std::move(only), std::move(exclude), std::move(specialise), origin_of(file, node)};
}

bool names_backend(const YamlNode& archs) {
  return archs.is_map() && std::ranges::any_of(archs.entries, [](const YamlNode::Entry& entry) {
           return find_backend_kind(entry.key.scalar) != nullptr;
         });
}

// `archs: {cuda: …, hip: …}`.
Result<ArchFilters> read_filters_by_backend(const SpecFile& file, const YamlNode& node,
                                            const std::vector<BackendKind>& backends) {
  std::vector<std::string> keys;
  for (const BackendKind kind : backends)
    keys.emplace_back(kind_row(kind).key);
  DSBUILD_CHECK(check_map(file, node, "'archs' of an op for " + join(keys, ", "), keys));
  ArchFilters filters;
  for (const auto& [key, value] : node.entries) {
    const BackendKindRow& row = *find_backend_kind(key.scalar);
    DSBUILD_TRY(filter, read_arch_filter(file, value, {"archs." + key.scalar, row}));
    filters.emplace(row.kind, std::move(filter));
  }
  return filters;
}

}  // namespace

Result<ArchFilters> read_arch_filters(const SpecFile& file, const YamlNode& map, BackendKind own,
                                      const std::vector<BackendKind>& backends) {
  const YamlNode* node = map.find("archs");
  if (!node) return ArchFilters{};
  if (own == BackendKind::cpu) return bad_spec(file, *node, "'archs' means nothing for a cpu op");
  if (names_backend(*node)) return read_filters_by_backend(file, *node, backends);
  DSBUILD_TRY(filter, read_arch_filter(file, *node, {"archs", kind_row(own)}));
  return ArchFilters{{own, std::move(filter)}};
}

Result<std::vector<BackendKind>> read_backends(const SpecFile& file, const YamlNode& node,
                                               const std::string& owner) {
  std::vector<std::string> words;
  if (node.is_sequence()) {
    DSBUILD_TRY(list, read_words(file, node, owner, refuse_backend));
    words = std::move(list);
  } else {
    DSBUILD_TRY(word, read_word(file, node, owner, refuse_backend));
    words.push_back(std::move(word));
  }
  if (words.empty()) return bad_spec(file, node, owner + " is empty");
  std::vector<BackendKind> kinds;
  for (const std::string& word : words)
    kinds.push_back(find_backend_kind(word)->kind);
  std::sort(kinds.begin(), kinds.end());
  if (std::adjacent_find(kinds.begin(), kinds.end()) != kinds.end())
    return bad_spec(file, node, owner + " names a backend twice");
  return kinds;
}

Result<When> read_when(const SpecFile& file, const YamlNode& node) {
  if (!node.is_sequence()) return read_one_when(file, node);
  if (node.items.empty()) return bad_spec(file, node, "'when' is empty");
  DSBUILD_TRY(when, read_one_when(file, node.items.front()));
  for (size_t i = 1; i < node.items.size(); ++i) {
    DSBUILD_TRY(other, read_one_when(file, node.items[i]));
    when.or_else.push_back(std::move(other));
  }
  return when;
}

Result<When> read_when_of(const SpecFile& file, const YamlNode& map) {
  const YamlNode* node = map.find("when");
  if (!node) return When{};
  return read_when(file, *node);
}

Result<TextEntries> read_entries(const SpecFile& file, const YamlNode& list, const std::string& owner,
                                 const WordRule& rule) {
  DSBUILD_CHECK(check_sequence(file, list, owner));
  if (list.items.size() > k_longest_list) {
    return bad_spec(file, list, owner + " has over " + std::to_string(k_longest_list) + " entries");
  }
  TextEntries entries;
  Mistakes mistakes;
  for (const YamlNode& item : list.items) {
    Entry<std::string> entry;
    if (!mistakes.take(read_entry(file, item, owner, rule), entry)) continue;
    const auto twin = std::find(entries.begin(), entries.end(), entry);
    if (twin == entries.end())
      entries.push_back(std::move(entry));
    else
      mistakes.check(bad_spec(file, item, owner + ": '" + entry.value + "' stands twice",
                              "The other is at " + twin->origin.text + "."));
  }
  DSBUILD_CHECK(mistakes.result());
  return entries;
}

}  // namespace dsbuild
