#include "base/yaml.h"

#include <catch2/catch.hpp>
#include <random>

#include "support/sample.h"

using namespace dsbuild;

namespace {

YamlNode parse(const std::string& text) {
  auto node = parse_yaml(text, "op.yaml");
  if (!node) FAIL(node.error().where << " " << node.error().what);
  return *node;
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

}  // namespace

TEST_CASE("Maps, lists and text keep the file's order and places") {
  const YamlNode root = parse("name: fused_adam\nsources:\n  - a.cu\n  - {path: b.cu, flags: [-O3]}\n");
  REQUIRE(root.is_map());
  REQUIRE(root.entries.size() == 2);
  CHECK(root.entries[0].key.scalar == "name");
  CHECK(root.find("name")->scalar == "fused_adam");
  CHECK(yaml_where("op.yaml", *root.find("name")) == "op.yaml:1:7");
  const YamlNode& sources = *root.find("sources");
  REQUIRE(sources.is_sequence());
  CHECK(yaml_where("op.yaml", sources.items.at(0)) == "op.yaml:3:5");
  CHECK(yaml_where("op.yaml", sources.items.at(1)) == "op.yaml:4:5");
  const YamlNode& flags = *sources.items[1].find("flags");
  CHECK(flags.items.at(0).scalar == "-O3");
  CHECK(yaml_where("op.yaml", flags.items[0]) == "op.yaml:4:26");
  CHECK(root.find("absent") == nullptr);
}

TEST_CASE("Every scalar stays the text that was written") {
  const YamlNode root = parse("[10.0, no, 1e3, 0x10, 2024-01-01, 'it''s', \"a\\tb\", x#y, true]");
  std::vector<std::string> texts;
  for (const YamlNode& item : root.items)
    texts.push_back(item.scalar);
  CHECK(texts ==
        std::vector<std::string>{"10.0", "no", "1e3", "0x10", "2024-01-01", "it's", "a\tb", "x#y", "true"});
}

TEST_CASE("A file without content is null, and so are ~, null and a value left out") {
  CHECK(parse("").kind == YamlNode::Kind::null);
  CHECK(parse("# only a comment\n").kind == YamlNode::Kind::null);
  CHECK(yaml_where("f", parse("\n\n# only a comment\n")) == "f:1:1");
  CHECK(parse("---\n").kind == YamlNode::Kind::null);
  const YamlNode root = parse("a: ~\nb: null\nc:\nd: \"null\"\ne: ''\n");
  CHECK(root.find("a")->kind == YamlNode::Kind::null);
  CHECK(root.find("b")->kind == YamlNode::Kind::null);
  CHECK(root.find("c")->kind == YamlNode::Kind::null);
  CHECK(root.find("d")->scalar == "null");
  CHECK(root.find("e")->is_scalar());
}

TEST_CASE("A value left out stands where its key stands") {
  const YamlNode root = parse("a: 1\nempty:\nb: 2\n");
  CHECK(yaml_where("f", *root.find("empty")) == "f:2:1");
}

TEST_CASE("One document may be marked as such") {
  CHECK(parse("%YAML 1.2\n---\na: 1\n...\n").find("a")->scalar == "1");
  CHECK(parse("\xef\xbb\xbf"
              "a: 1\r\nb: 2\r\n")
            .find("b")
            ->scalar == "2");
}

struct Refused {
  std::string text;
  std::string where;
  std::string what;  // a part of the message
};

TEST_CASE("What dsbuild's YAML leaves out is refused at its place") {
  const std::vector<Refused> table{
      {"a: &x 1\n", "1:4", "anchors are not allowed (&x)"},
      {"a: &x [1]\nb: *x\n", "1:4", "anchors"},
      {"&a [*a]\n", "1:1", "anchors"},
      {"a: 1\nb: *x\n", "2:4", "aliases are not allowed"},
      {"- *.cu\n", "1:3", "aliases are not allowed"},
      {"a: !!str 1\n", "1:4", "tags are not allowed"},
      {"a: !shell {b: 1}\n", "1:4", "tags are not allowed (!shell)"},
      {"a: !x [1]\n", "1:4", "tags"},
      {"a: 1\nb: 2\n\"a\": 3\n", "3:1", "key 'a' is given twice; the first is at line 1, column 1"},
      {"x: {a: 1, a: 2}\n", "1:11", "first is at line 1, column 5"},
      {"<<: {a: 1}\n", "1:1", "merge keys"},
      {"a: 1\n---\nb: 2\n", "2:1", "document ends before this line"},
      {"---\n---\na: 1\n", "2:1", "document ends before this line"},
      {"- a\nb: 1\n", "2:1", "document ends before this line"},
      {"? [a]\n: b\n", "1:3", "a key must be text"},
      {"{{a: 1}: 2}", "1:2", "a key must be text"},
      {": x\n", "1:1", "a key must be text"},
      {"~: x\n", "1:1", "a key must be text"},
      {"a:\n\tb: 1\n", "2:1", "a tab in the indentation"},
      {"a:\n  \tb: 1\n", "2:3", "a tab in the indentation"},
      {"a: \"x\\0y\"\n", "1:4", "NUL"},
      {std::string("a: x\0y\n", 7), "1:5", "control character 0x00"},
      {"a: 1\nb: \x04\nc: 2\n", "2:4", "control character 0x04"},
      {"a: \x1b[31m\n", "1:4", "control character 0x1B"},
      {"a: \xff\n", "1:4", "not UTF-8"},
      {"a: \xc0\xaf\n", "1:4", "not UTF-8"},
      {"a: \xed\xa0\x80\n", "1:4", "not UTF-8"},
      {"a: \xe4\xb8", "1:4", "not UTF-8"},
      {std::string("\xff\xfe"
                   "a\0:\0",
                   6),
       "1:1", "not UTF-8"},
      {"a: b: c\n", "1:5", "this is not YAML"},
      {"a: 1\n]\n", "2:1", "this is not YAML"},
      {"a: [1, 2\n", "", "this is not YAML"},
      {"a: \"x\n", "", "a quoted text has no end"},
      {"a: 'x", "", "a quoted text has no end"},
      {"a: @x\n", "1:4", "this is not YAML"},
  };
  for (const Refused& row : table) {
    const auto node = parse_yaml(row.text, "op.yaml");
    INFO(row.text);
    REQUIRE_FALSE(node);
    CHECK(node.error().exit == Exit::usage);
    CHECK(node.error().code == "bad_yaml");
    if (!row.where.empty()) CHECK(node.error().where == "op.yaml:" + row.where);
    CHECK_THAT(node.error().what, Catch::Contains(row.what));
    CHECK_FALSE(node.error().fix.empty());
  }
}

TEST_CASE("64 levels are read, 65 are not") {
  CHECK(parse_yaml(repeated("[", 64) + repeated("]", 64), "f"));
  const auto deep = parse_yaml(repeated("- ", 65) + "x", "f");
  REQUIRE_FALSE(deep);
  CHECK(deep.error().where == "f:1:129");
  CHECK_THAT(deep.error().what, Catch::Contains("more than 64 deep"));
  CHECK_FALSE(parse_yaml(repeated("[", 65) + repeated("]", 65), "f"));
}

TEST_CASE("256 KiB are read, a byte more is not") {
  const std::string text = "a: " + std::string(256 * 1024 - 3, 'x');
  CHECK(parse_yaml(text, "f"));
  CHECK_THAT(parse_yaml(text + "x", "f").error().what, Catch::Contains("262145 bytes"));
}

TEST_CASE("No text makes the reader crash or hang") {
  std::mt19937 random(sample_seed());
  const std::string alphabet = "a1:-?,[]{}#&*!|>'\"%@`~<. \n\n  \t\\\xc3\xa9";
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const size_t size = random() % 60;
    for (size_t i = 0; i < size; ++i)
      text += alphabet[random() % alphabet.size()];
    if (parse_yaml(text, "f")) ++accepted;
  }
  CHECK(accepted > 0);
}

TEST_CASE("Large hostile files are answered at once") {
  const std::string a_comment = "#", empty_lines = "\n", a_text_of_quotes = "'";
  for (const std::string& unit : {a_comment, empty_lines, a_text_of_quotes})
    CHECK(parse_yaml(repeated(unit, 250000), "f"));
  for (const std::string unit : {"[", "{", "? ", "- ", "{? ", "a: ", "!<", "[a,", "|\n"}) {
    CAPTURE(unit);
    const auto answer = parse_yaml(repeated(unit, static_cast<int>(250000 / unit.size())), "f");
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == "bad_yaml");
  }
}
