#include "registry/spec_reader.h"

#include <algorithm>

namespace dsbuild {
namespace {

std::string kind_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "one word";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::map:
      break;
  }
  return "a map";
}

tl::unexpected<Error> wrong_type(const SpecFile& file, const YamlNode& node, const std::string& owner,
                                 const std::string& wanted) {
  return bad_spec(file, node, owner + " takes " + wanted + ", not " + kind_text(node));
}

}  // namespace

SourceTree make_source_tree(const FileReader& files, const Path& root, const Version& version) {
  const Path absolute = files.absolute(root);
  return SourceTree{files, absolute, files.real_path(absolute).value_or(Path()), version};
}

tl::unexpected<Error> bad_spec(const SpecFile& file, const YamlNode& at, std::string what, std::string fix) {
  return fail(Exit::usage, "bad_spec", yaml_where(file.shown, at), std::move(what),
              fix.empty() ? "docs/reference/op_yaml.md has the rules of each key." : std::move(fix));
}

Origin origin_of(const SpecFile& file, const YamlNode& node) {
  return Origin{yaml_where(file.shown, node)};
}

Result<void> check_is_map(const SpecFile& file, const YamlNode& node, const std::string& owner) {
  if (!node.is_map()) return wrong_type(file, node, owner, "a map");
  return {};
}

Result<void> check_map(const SpecFile& file, const YamlNode& node, const std::string& owner,
                       const std::vector<std::string>& keys) {
  DSBUILD_CHECK(check_is_map(file, node, owner));
  Mistakes mistakes;
  for (const auto& [key, value] : node.entries) {
    if (std::find(keys.begin(), keys.end(), key.scalar) != keys.end()) continue;
    mistakes.check(bad_spec(
        file, key, "unknown key '" + printable(key.scalar) + "' in " + owner + did_you_mean(key.scalar, keys),
        "Keys of " + owner + ": " + join(keys, ", ") + "."));
  }
  return mistakes.result();
}

Result<void> check_sequence(const SpecFile& file, const YamlNode& node, const std::string& owner) {
  if (!node.is_sequence()) return wrong_type(file, node, owner, "a list");
  return {};
}

Result<std::string> read_word(const SpecFile& file, const YamlNode& node, const std::string& owner,
                              const WordRule& rule) {
  if (!node.is_scalar()) return wrong_type(file, node, owner, "one word");
  if (const std::string reason = rule(node.scalar); !reason.empty()) {
    return bad_spec(file, node, owner + ": '" + printable(node.scalar) + "' " + reason);
  }
  return node.scalar;
}

Result<std::vector<std::string>> read_words(const SpecFile& file, const YamlNode& list,
                                            const std::string& owner, const WordRule& rule) {
  DSBUILD_CHECK(check_sequence(file, list, owner));
  std::vector<std::string> words(list.items.size());
  Mistakes mistakes;
  for (size_t i = 0; i < words.size(); ++i)
    mistakes.take(read_word(file, list.items[i], owner, rule), words[i]);
  DSBUILD_CHECK(mistakes.result());
  return words;
}

Result<VersionRange> read_range(const SpecFile& file, const YamlNode& node, const std::string& owner) {
  if (!node.is_scalar()) return wrong_type(file, node, owner, "a version range");
  return parse_version_range(node.scalar, yaml_where(file.shown, node));
}

}  // namespace dsbuild
