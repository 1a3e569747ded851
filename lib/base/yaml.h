// A strict reader for the YAML that dsbuild takes (op.yaml, pack.yaml, configs/*.yaml).
// The rules are YAML 1.2's core schema, narrowed: one document of maps, sequences and scalars, and every
// scalar is text as written ("10.0", "no" and "1e3" stay text). The reader refuses, with
// file:line:column: anchors, aliases, tags, merge keys, duplicate keys, a second document, tabs as
// indent, nesting over 64, files over 256 KiB. Built on yaml-cpp's event interface, so that no
// alias is ever expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dsbuild {

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  std::string scalar;           // kind scalar
  std::vector<YamlNode> items;  // kind sequence
  struct Entry;
  std::vector<Entry> entries;  // kind map, in file order; keys are scalars
  int line = 1;                // 1-based
  int column = 1;
  // "": the node is in the file that was parsed. Otherwise the node was merged from this file, such as a
  // pack.yaml with defaults.
  std::string file;

  const YamlNode* find(std::string_view key) const;  // of a map; nullptr if absent
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_sequence() const { return kind == Kind::sequence; }
  bool is_map() const { return kind == Kind::map; }
};

struct YamlNode::Entry {
  YamlNode key;
  YamlNode value;
};

// `file` is only for messages. Errors: exit 2, code `bad_yaml`, where file:line:column.
Result<YamlNode> parse_yaml(std::string_view text, const std::string& file);

// "file:line:column"; with `file` if the node has no file of its own.
std::string yaml_where(const std::string& file, const YamlNode& node);

}  // namespace dsbuild
