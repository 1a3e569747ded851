// `requires:` -> Requirement, one row per kind.
#include <array>

#include "registry/spec_reader.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

struct KindRow {
  RequirementKind kind;
  std::string (*refuse)(const std::string&);  // of a subject; null: the value is a version range
};
constexpr std::array k_kinds = {KindRow{RequirementKind::cuda, nullptr},
                                KindRow{RequirementKind::header, refuse_path},
                                KindRow{RequirementKind::library, refuse_library},
                                KindRow{RequirementKind::command, refuse_command},
                                KindRow{RequirementKind::cpu_feature, refuse_cpu_feature},
                                KindRow{RequirementKind::module, refuse_module},
                                KindRow{RequirementKind::tvm_ffi, nullptr},
                                KindRow{RequirementKind::torch, nullptr},
                                KindRow{RequirementKind::cutlass, nullptr}};
const std::vector<std::string> k_package_tools = {"apt", "dnf", "pacman", "zypper", "apk"};

std::vector<std::string> kind_keys() {
  std::vector<std::string> keys;
  for (const KindRow& row : k_kinds)
    keys.emplace_back(key_of(row.kind));
  return keys;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys = kind_keys();
  keys.insert(keys.end(), {"function", "root", "package", "hint", "when"});
  return keys;
}

Result<const KindRow*> find_kind(const SpecFile& file, const YamlNode& entry) {
  const KindRow* found = nullptr;
  for (const KindRow& row : k_kinds) {
    if (!entry.find(key_of(row.kind))) continue;
    if (found) {
      return bad_spec(file, entry,
                      std::string("a requirement is of one kind, not both '") + key_of(found->kind) +
                          "' and '" + key_of(row.kind) + "'");
    }
    found = &row;
  }
  if (!found) return bad_spec(file, entry, "a requirement needs one of " + join(kind_keys(), ", "));
  return found;
}

Result<void> read_subject(const SpecFile& file, const YamlNode& node, const KindRow& row, Requirement& into) {
  const std::string owner = std::string("'requires.") + key_of(row.kind) + "'";
  if (!row.refuse) {
    DSBUILD_TRY(range, read_range(file, node, owner));
    into.range = std::move(range);
  } else if (row.kind == RequirementKind::command && node.is_sequence()) {
    DSBUILD_TRY(words, read_words(file, node, owner, row.refuse));
    if (words.empty()) return bad_spec(file, node, owner + " is empty");
    into.subjects = std::move(words);
  } else {
    DSBUILD_TRY(word, read_word(file, node, owner, row.refuse));
    into.subjects = {std::move(word)};
  }
  return {};
}

Result<void> read_function(const SpecFile& file, const YamlNode& entry, Requirement& into) {
  const YamlNode* node = entry.find("function");
  if (!node) return {};
  if (into.kind != RequirementKind::library)
    return bad_spec(file, *node, "'function' goes with 'library' only");
  DSBUILD_TRY(word, read_word(file, *node, "'requires.function'", refuse_identifier));
  into.function = std::move(word);
  return {};
}

// Where to look first; both may be given.
Result<void> read_place(const SpecFile& file, const YamlNode& entry, const char* key, const WordRule& rule,
                        const Requirement& requirement, std::string& into) {
  const YamlNode* node = entry.find(key);
  if (!node) return {};
  const bool fits =
      requirement.kind == RequirementKind::header || requirement.kind == RequirementKind::library;
  if (!fits) return bad_spec(file, *node, std::string("'") + key + "' goes with 'header' and 'library' only");
  DSBUILD_TRY(word, read_word(file, *node, std::string("'requires.") + key + "'", rule));
  into = std::move(word);
  return {};
}

std::string refuse_hint(const std::string& text) {
  if (text.empty()) return "is empty";
  if (text.size() > 512) return "is over 512 bytes long";
  return printable(text) == text && text.find('\n') == std::string::npos ? ""
                                                                         : "is not one line of plain text";
}

Result<void> read_hint(const SpecFile& file, const YamlNode& entry, Requirement& into) {
  const YamlNode* node = entry.find("hint");
  if (!node) return {};
  if (!node->is_map()) {
    DSBUILD_TRY(text, read_word(file, *node, "'hint'", refuse_hint));
    into.hint[""] = std::move(text);
    return {};
  }
  DSBUILD_CHECK(check_map(file, *node, "'hint'", k_package_tools));
  for (const auto& [tool, packages] : node->entries) {
    DSBUILD_TRY(text, read_word(file, packages, "'hint." + tool.scalar + "'", refuse_hint));
    into.hint[tool.scalar] = std::move(text);
  }
  return {};
}

Result<Requirement> read_requirement(const SpecFile& file, const YamlNode& entry) {
  DSBUILD_CHECK(check_map(file, entry, "a requirement", all_keys()));
  DSBUILD_TRY(row, find_kind(file, entry));
  Requirement requirement;
  requirement.kind = row->kind;
  requirement.origin = origin_of(file, entry);
  DSBUILD_CHECK(read_subject(file, *entry.find(key_of(row->kind)), *row, requirement));
  DSBUILD_CHECK(read_function(file, entry, requirement));
  DSBUILD_CHECK(read_place(file, entry, "root", refuse_identifier, requirement, requirement.root));
  DSBUILD_CHECK(read_place(file, entry, "package", refuse_path, requirement, requirement.package));
  DSBUILD_CHECK(read_hint(file, entry, requirement));
  DSBUILD_TRY(when, read_when_of(file, entry));
  requirement.when = std::move(when);
  return requirement;
}

}  // namespace

Result<std::vector<Requirement>> read_requirements(const SpecFile& file, const YamlNode& list) {
  DSBUILD_CHECK(check_sequence(file, list, "'requires'"));
  std::vector<Requirement> requirements;
  for (const YamlNode& entry : list.items) {
    DSBUILD_TRY(requirement, read_requirement(file, entry));
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

}  // namespace dsbuild
