// `requires:` -> Requirement, one row per kind.
#include <algorithm>
#include <array>

#include "registry/requirement_kinds.h"
#include "registry/source_files.h"
#include "registry/spec_reader.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

std::string refuse_line(const std::string& text) {
  if (text.empty()) return "is empty";
  if (text.size() > 512) return "is over 512 bytes long";
  return printable(text) == text && text.find('\n') == std::string::npos ? ""
                                                                         : "is not one line of plain text";
}

using Kinds = std::vector<RequirementKind>;
const Kinds k_searched = {RequirementKind::header, RequirementKind::library};

// What some kinds have beside their subject.
struct PartRow {
  const char* key;
  std::string Requirement::* into;
  std::string (*refuse)(const std::string&);
  Kinds kinds;
  bool is_needed;
};
const std::vector<PartRow> k_parts = {
    {"function", &Requirement::function, refuse_identifier, {RequirementKind::library}, false},
    {"root", &Requirement::root, refuse_identifier, k_searched, false},
    {"package", &Requirement::package, refuse_path, k_searched, false},
    {"in", &Requirement::in, refuse_folder_base, {RequirementKind::folder}, false},
    {"for", &Requirement::language, refuse_folder_language, {RequirementKind::folder}, false},
    {"lacks", &Requirement::lacks, refuse_line, {RequirementKind::source}, true},
    {"because", &Requirement::because, refuse_line, {RequirementKind::source}, true},
};

const std::vector<std::string> k_package_tools = {"apt", "dnf", "pacman", "zypper", "apk"};

std::vector<std::string> kind_keys() {
  std::vector<std::string> keys;
  for (const RequirementKindRow& row : requirement_kinds())
    if (*row.key != '\0') keys.emplace_back(row.key);
  return keys;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> keys = kind_keys();
  for (const PartRow& part : k_parts)
    keys.emplace_back(part.key);
  keys.insert(keys.end(), {"hint", "when"});
  return keys;
}

Result<const RequirementKindRow*> find_kind(const SpecFile& file, const YamlNode& entry) {
  const RequirementKindRow* found = nullptr;
  for (const RequirementKindRow& row : requirement_kinds()) {
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

Result<void> read_subject(const SpecFile& file, const YamlNode& node, const RequirementKindRow& row,
                          Requirement& into) {
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

std::string keys_of(const Kinds& kinds) {
  std::vector<std::string> keys;
  for (const RequirementKind kind : kinds)
    keys.push_back(std::string("'") + key_of(kind) + "'");
  return join(keys, " and ");
}

Result<void> read_part(const SpecFile& file, const YamlNode& entry, const PartRow& part, Requirement& into) {
  const std::string key = std::string("'") + part.key + "'";
  const bool fits = std::find(part.kinds.begin(), part.kinds.end(), into.kind) != part.kinds.end();
  const YamlNode* node = entry.find(part.key);
  if (!node && fits && part.is_needed)
    return bad_spec(file, entry, std::string("a requirement with '") + key_of(into.kind) + "' needs " + key);
  if (!node) return {};
  if (!fits) return bad_spec(file, *node, key + " goes with " + keys_of(part.kinds) + " only");
  DSBUILD_TRY(word, read_word(file, *node, std::string("'requires.") + part.key + "'", part.refuse));
  into.*part.into = std::move(word);
  return {};
}

Result<void> read_hint(const SpecFile& file, const YamlNode& entry, Requirement& into) {
  const YamlNode* node = entry.find("hint");
  if (!node) return {};
  if (!node->is_map()) {
    DSBUILD_TRY(text, read_word(file, *node, "'hint'", refuse_line));
    into.hint[""] = std::move(text);
    return {};
  }
  DSBUILD_CHECK(check_map(file, *node, "'hint'", k_package_tools));
  for (const auto& [tool, packages] : node->entries) {
    DSBUILD_TRY(text, read_word(file, packages, "'hint." + tool.scalar + "'", refuse_line));
    into.hint[tool.scalar] = std::move(text);
  }
  return {};
}

// A source of another version is not looked for.
Result<void> check_source(const SpecFile& file, const YamlNode& entry, const Requirement& requirement) {
  const bool is_looked_for =
      requirement.kind == RequirementKind::source && is_of_version(requirement.when, file.tree.version);
  if (!is_looked_for) return {};
  return check_on_disk(file, *entry.find("source"), requirement.subjects.front(), FileKind::file);
}

// An absolute folder is one of this machine, and below nothing else.
Result<void> check_folder(const SpecFile& file, const YamlNode& entry, const Requirement& requirement) {
  if (requirement.kind != RequirementKind::folder) return {};
  const std::string& folder = requirement.subjects.front();
  const bool is_absolute = folder.starts_with('/');
  if (is_absolute && !requirement.in.empty())
    return bad_spec(file, *entry.find("in"),
                    "'in' goes with a relative folder only, and '" + folder + "' is absolute");
  if (!is_absolute && requirement.in.empty())
    return bad_spec(file, *entry.find("folder"),
                    "'requires.folder': '" + folder + "' is relative, and no 'in' says to what (" +
                        k_in_packages + " or " + k_in_python + ")");
  return {};
}

Result<Requirement> read_requirement(const SpecFile& file, const YamlNode& entry) {
  DSBUILD_CHECK(check_map(file, entry, "a requirement", all_keys()));
  DSBUILD_TRY(row, find_kind(file, entry));
  Requirement requirement;
  requirement.kind = row->kind;
  requirement.origin = origin_of(file, entry);
  Mistakes mistakes;
  mistakes.check(read_subject(file, *entry.find(key_of(row->kind)), *row, requirement));
  for (const PartRow& part : k_parts)
    mistakes.check(read_part(file, entry, part, requirement));
  mistakes.check(read_hint(file, entry, requirement));
  mistakes.take(read_when_of(file, entry), requirement.when);
  DSBUILD_CHECK(mistakes.result());
  DSBUILD_CHECK(check_folder(file, entry, requirement));
  DSBUILD_CHECK(check_source(file, entry, requirement));
  return requirement;
}

}  // namespace

Result<std::vector<Requirement>> read_requirements(const SpecFile& file, const YamlNode& list) {
  DSBUILD_CHECK(check_sequence(file, list, "'requires'"));
  std::vector<Requirement> requirements(list.items.size());
  Mistakes mistakes;
  for (size_t i = 0; i < requirements.size(); ++i)
    mistakes.take(read_requirement(file, list.items[i]), requirements[i]);
  DSBUILD_CHECK(mistakes.result());
  return requirements;
}

}  // namespace dsbuild
