#include "base/json.h"

#include <catch2/catch.hpp>
#include <limits>

using dsbuild::Json;

TEST_CASE("braces make an object, a vector makes a list") {
  const Json op = {{"op", "adam"},   {"bytes", size_t{5}}, {"change", -2},
                   {"built", true},  {"seconds", 0.5},     {"archs", std::vector<std::string>{"8.0", "9.0"}},
                   {"why", nullptr}, {"none", Json{}},     {"torch", {{"cuda", "13.0"}}}};
  CHECK(op.dump() == R"({"op":"adam","bytes":5,"change":-2,"built":true,"seconds":0.5,"archs":["8.0","9.0"],)"
                     R"("why":null,"none":null,"torch":{"cuda":"13.0"}})");
  CHECK(Json::array().dump() == "[]");
  CHECK(Json::object().dump() == "{}");
  CHECK(Json{{"event", "plan"}}.dump() == R"({"event":"plan"})");
}

TEST_CASE("an indented document") {
  const Json json = {{"none", Json::array()}, {"two", std::vector<int>{1, 2}}, {"in", {{"a", "b"}}}};
  CHECK(json.dump(2) ==
        "{\n  \"none\": [],\n  \"two\": [\n    1,\n    2\n  ],\n  \"in\": {\n    \"a\": \"b\"\n  }\n}");
}

TEST_CASE("texts that are not plain") {
  CHECK(Json("a\"b\\c\n\x01\x7f").dump() == "\"a\\\"b\\\\c\\n\\u0001\\u007f\"");
  CHECK(Json("ä").dump() == "\"ä\"");
  CHECK(Json("\xff!").dump() == "\"\xEF\xBF\xBD!\"");
  CHECK(dsbuild::ascii_literal("ä\"") == R"("\u00e4\"")");
  CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
}

TEST_CASE("a value grows by member and by item") {
  Json json;
  json["ops"].push_back("a");
  json["ops"].push_back({{"b", 1}});
  json["n"] = 1;
  json["n"] = 2;
  CHECK(json.dump() == R"({"ops":["a",{"b":1}],"n":2})");
}

TEST_CASE("what is read is what was written") {
  const std::string text =
      R"({"a":[1,-2,2.5,true,false,null,"x"],"b":{"c":{}},"large":18446744073709551615,"d":[]})";
  const auto json = Json::parse(text);
  REQUIRE(json);
  CHECK(json->dump() == text);
  const Json& list = *json->find("a");
  CHECK(list.items()->at(0).number() == 1u);
  CHECK_FALSE(list.items()->at(1).number());
  CHECK_FALSE(list.items()->at(2).number());
  CHECK(list.items()->at(3).flag() == true);
  CHECK(list.items()->at(5).is_null());
  CHECK(*list.items()->at(6).text() == "x");
  CHECK_FALSE(list.members());
  CHECK_FALSE(list.find("a"));
  CHECK_FALSE(json->find("nothing"));
  CHECK(Json::parse(R"({"a":1,"a":2})")->find("a")->number() == 2u);
}

TEST_CASE("a member that is absent or of another kind is empty text, and false") {
  const Json object = {{"text", "x"}, {"yes", true}, {"no", false}, {"one", 1}};
  CHECK(text_at(object, "text") == "x");
  CHECK(text_at(object, "yes").empty());
  CHECK(text_at(object, "nothing").empty());
  CHECK(text_at(Json::array(), "text").empty());
  CHECK(is_true(object, "yes"));
  for (const char* key : {"no", "one", "text", "nothing"})
    CHECK_FALSE(is_true(object, key));
}

TEST_CASE("what is not JSON is refused, however deep") {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1}x", "'a'", "\"\xff\"", "nul", "{1:2}"})
    CHECK_FALSE(Json::parse(text));
  CHECK(Json::parse(std::string(100, '[') + std::string(100, ']')));
  CHECK_FALSE(Json::parse(std::string(101, '[') + std::string(101, ']')));
  CHECK_FALSE(Json::parse(std::string(1'000'000, '[')));
}
