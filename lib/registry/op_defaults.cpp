#include "registry/op_defaults.h"

#include <algorithm>

namespace dsbuild {
namespace {

const std::vector<std::string> k_default_keys = {
    "when",  "backend",   "backends",     "unsupported",   "archs",
    "needs", "sources",   "include_dirs", "defines",       "std",
    "flags", "libraries", "requires",     "module_suffix", "undefined_symbols"};

void set_file(YamlNode& node, const std::string& file) {
  node.file = file;
  for (YamlNode& item : node.items)
    set_file(item, file);
  for (YamlNode::Entry& entry : node.entries) {
    set_file(entry.key, file);
    set_file(entry.value, file);
  }
}

YamlNode* find(YamlNode& map, const std::string& key) {
  const auto found =
      std::ranges::find_if(map.entries, [&](const auto& entry) { return entry.key.scalar == key; });
  return found == map.entries.end() ? nullptr : &found->value;
}

bool is_for_cpu(const YamlNode& op) {
  const YamlNode* backend = op.find("backend");
  return backend && backend->scalar == "cpu";
}

// A define is a value or a map of one: its own counts whole.
bool is_joined(const std::string& key) {
  return key == "defines" || key == "std" || key == "flags" || key == "unsupported";
}

void join_lists(YamlNode& own, const YamlNode& usual) {
  own.items.insert(own.items.begin(), usual.items.begin(), usual.items.end());
}

void join_maps(YamlNode& own, const YamlNode& usual) {
  for (const YamlNode::Entry& entry : usual.entries) {
    YamlNode* same = find(own, entry.key.scalar);
    if (!same)
      own.entries.push_back(entry);
    else if (same->is_sequence() && entry.value.is_sequence())
      join_lists(*same, entry.value);
  }
}

}  // namespace

Result<YamlNode> read_defaults(const SpecFile& file, const YamlNode& pack) {
  const YamlNode* node = pack.find("defaults");
  if (!node) return YamlNode{};
  DSBUILD_CHECK(check_map(file, *node, "'defaults'", k_default_keys));
  YamlNode defaults = *node;
  set_file(defaults, file.shown);
  return defaults;
}

Result<std::vector<YamlNode>> read_ops(const SpecFile& file, const YamlNode& pack) {
  std::vector<YamlNode> ops;
  const YamlNode* node = pack.find("ops");
  if (!node) return ops;
  if (!node->is_map())
    return bad_spec(file, *node, "'ops' takes a map of names to what their op.yaml would hold");
  Mistakes mistakes;
  for (const auto& [name, value] : node->entries) {
    if (!value.is_map()) {
      mistakes.check(bad_spec(file, name, "'ops." + printable(name.scalar) + "' takes a map, as op.yaml is"));
      continue;
    }
    if (const YamlNode* twice = value.find("name"))
      mistakes.check(bad_spec(file, *twice, "an op's name in 'ops' is its key: 'name' says it twice",
                              "Leave 'name' out."));
    YamlNode op = value;
    YamlNode key = name;
    key.scalar = "name";
    op.entries.insert(op.entries.begin(), {key, name});
    ops.push_back(std::move(op));
  }
  DSBUILD_CHECK(mistakes.result());
  return ops;
}

YamlNode with_defaults(YamlNode op, const YamlNode& defaults) {
  if (!op.is_map()) return op;
  for (const YamlNode::Entry& entry : defaults.entries) {
    const std::string& key = entry.key.scalar;
    if (key == "archs" && is_for_cpu(op)) continue;
    if ((key == "backend" || key == "backends") && (op.find("backend") || op.find("backends"))) continue;
    YamlNode* own = find(op, key);
    if (!own)
      op.entries.push_back(entry);
    else if (own->is_sequence() && entry.value.is_sequence())
      join_lists(*own, entry.value);
    else if (is_joined(key) && own->is_map() && entry.value.is_map())
      join_maps(*own, entry.value);
  }
  return op;
}

}  // namespace dsbuild
