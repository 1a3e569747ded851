#include "base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "base/yaml_text.h"

namespace dsbuild {
namespace {

constexpr size_t k_max_depth = 64;
constexpr std::string_view k_no_alias = "aliases are not allowed";
constexpr std::string_view k_no_alias_fix = "write the value out; quote a text that starts with '*'";

// Thrown by the handler through yaml-cpp, which has no other way to stop; caught in parse_yaml.
struct Refusal {
  int line;
  int column;
  std::string what;
  std::string fix;
};

// yaml-cpp counts from 0, and has -1 for "nowhere".
int counted_from_one(int place) {
  return std::max(place, 0) + 1;
}

[[noreturn]] void refuse(const YAML::Mark& mark, std::string what, std::string fix) {
  throw Refusal{counted_from_one(mark.line), counted_from_one(mark.column), std::move(what), std::move(fix)};
}

// Builds the tree of one document from yaml-cpp's events; refuses what dsbuild's YAML leaves out.
class TreeBuilder : public YAML::EventHandler {
 public:
  YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    // yaml-cpp also ends a document at a line that is indented less than its first.
    refuse(mark, "the document ends before this line",
           "put one document into one file, and start all its entries in the same column");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(node_at(mark, YamlNode::Kind::null)); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, std::string(k_no_alias), std::string(k_no_alias_fix));
  }
  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(mark, "anchors are not allowed (&" + printable(name) + ")",
           "remove it; quote a text that starts with '&'");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    if (value.find('\0') != std::string::npos) {
      refuse(mark, "the text holds a NUL character", "remove the \\0 escape");
    }
    YamlNode node = node_at(mark, YamlNode::Kind::scalar);
    node.scalar = value;
    add(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Place {
    int line;
    int column;
  };
  // A map or sequence whose end has not come yet.
  struct Open {
    YamlNode node;
    std::optional<YamlNode> key;        // of a map, while its value has not come
    std::map<std::string, Place> keys;  // of a map: where each stands
  };

  static YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = counted_from_one(mark.line);
    node.column = counted_from_one(mark.column);
    return node;
  }

  // "?" and "!" are what yaml-cpp gives to plain and to quoted text without a tag.
  static void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, "tags are not allowed (" + printable(tag) + ")",
           "remove it; every value is text as it is written");
  }

  void open(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    check_tag(mark, tag);
    if (open_.size() >= k_max_depth) {
      refuse(mark, "lists and maps are nested more than 64 deep", "flatten the file");
    }
    open_.push_back({node_at(mark, kind), std::nullopt, {}});
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      // Nothing at all stands nowhere: it keeps 1:1.
      if (node.kind != YamlNode::Kind::null) root_ = std::move(node);
    } else if (open_.back().node.is_sequence()) {
      open_.back().node.items.push_back(std::move(node));
    } else if (!open_.back().key) {
      add_key(open_.back(), std::move(node));
    } else {
      Open& map = open_.back();
      // A value left out gets the place of what follows it; its key's is where one would look.
      if (node.kind == YamlNode::Kind::null && node.line != map.key->line) {
        node.line = map.key->line;
        node.column = map.key->column;
      }
      map.node.entries.push_back({std::move(*map.key), std::move(node)});
      map.key.reset();
    }
  }

  static void add_key(Open& map, YamlNode key) {
    if (!key.is_scalar()) throw Refusal{key.line, key.column, "a key must be text", "quote it"};
    if (key.scalar == "<<") {
      throw Refusal{key.line, key.column, "merge keys (<<) are not allowed", "write the entries out"};
    }
    const auto [first, is_new] = map.keys.try_emplace(key.scalar, Place{key.line, key.column});
    if (!is_new) {
      const Place& place = first->second;
      throw Refusal{key.line, key.column,
                    "key '" + printable(key.scalar) + "' is given twice; the first is at line " +
                        std::to_string(place.line) + ", column " + std::to_string(place.column),
                    "remove one of them"};
    }
    map.key = std::move(key);
  }

  YamlNode root_;
  std::vector<Open> open_;
  int documents_ = 0;
};

YamlNode build_tree(std::string_view text) {
  // yaml-cpp takes a quoted text that the file's end cuts off for a whole one, unless the document is
  // seen to end.
  const bool ends_line = text.empty() || text.back() == '\n';
  std::istringstream stream{std::string(text) + (ends_line ? "" : "\n") + "...\n"};
  YAML::Parser parser(stream);
  TreeBuilder builder;
  while (parser.HandleNextDocument(builder)) {
  }
  return builder.take_root();
}

tl::unexpected<Error> bad_yaml(const std::string& file, int line, int column, std::string what,
                               std::string fix) {
  return fail(Exit::usage, "bad_yaml", file + ":" + std::to_string(line) + ":" + std::to_string(column),
              std::move(what), std::move(fix));
}

tl::unexpected<Error> yaml_cpp_error(const std::string& file, const YAML::Exception& error) {
  const int line = counted_from_one(error.mark.line);
  const int column = counted_from_one(error.mark.column);
  // An alias whose anchor is not there never reaches the handler.
  if (error.msg.rfind(YAML::ErrorMsg::UNKNOWN_ANCHOR, 0) == 0) {
    return bad_yaml(file, line, column, std::string(k_no_alias), std::string(k_no_alias_fix));
  }
  if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR) {
    return bad_yaml(file, line, column, "a quoted text has no end", "close the quote");
  }
  return bad_yaml(file, line, column, "this is not YAML: " + printable(error.msg),
                  "check brackets, quotes and indentation; quote a text that holds : # * & ! @ [ ] { }");
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [key](const auto& candidate) { return candidate.key.scalar == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

Result<YamlNode> parse_yaml(std::string_view text, const std::string& file) {
  constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";
  if (text.substr(0, k_byte_order_mark.size()) == k_byte_order_mark) {
    text.remove_prefix(k_byte_order_mark.size());
  }
  if (const auto fault = find_yaml_text_fault(text)) {
    return bad_yaml(file, fault->line, fault->column, fault->what, fault->fix);
  }
  try {
    return build_tree(text);
  } catch (const Refusal& refusal) {
    return bad_yaml(file, refusal.line, refusal.column, refusal.what, refusal.fix);
  } catch (const YAML::Exception& error) {
    return yaml_cpp_error(file, error);
  }
}

std::string yaml_where(const std::string& file, const YamlNode& node) {
  return (node.file.empty() ? file : node.file) + ":" + std::to_string(node.line) + ":" +
         std::to_string(node.column);
}

}  // namespace dsbuild
