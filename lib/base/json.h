// A JSON value, for reading and writing dsbuild's documents. An object keeps the order of its members.
// Json{{"op", name}, {"bytes", 5}} is an object, Json(std::vector<…>) a list, Json(nullptr) null.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dsbuild {

struct JsonMember;

class Json {
 public:
  Json();
  Json(std::nullptr_t);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  Json(std::initializer_list<JsonMember> members);
  template <std::integral T>
  Json(T number) : Json() {
    if constexpr (std::same_as<T, bool>) {
      hold(number);
    } else if constexpr (std::signed_integral<T>) {
      hold(static_cast<int64_t>(number));
    } else {
      hold(static_cast<uint64_t>(number));
    }
  }
  template <std::floating_point T>
  Json(T number) : Json() {
    hold(static_cast<double>(number));
  }
  template <class T>
    requires std::convertible_to<const T&, std::string_view>
  Json(const T& text) : Json() {
    hold(std::string(std::string_view(text)));
  }
  template <class T>
  Json(const std::vector<T>& items) : Json() {
    hold(std::vector<Json>(items.begin(), items.end()));
  }
  static Json array();
  static Json object();

  // nullopt for text that is no JSON, or nests deeper than 100. Of two members with one key, `find` gives the
  // last.
  static std::optional<Json> parse(std::string_view text);
  // On one line, or with so many blanks per level. Bytes that are no UTF-8 become U+FFFD.
  std::string dump(int indent = -1) const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  std::optional<bool> flag() const;
  std::optional<uint64_t> number() const;  // of a whole number that is not negative
  // nullptr: the value is of a different kind.
  const std::string* text() const { return std::get_if<std::string>(&value_); }
  const std::vector<Json>* items() const { return std::get_if<std::vector<Json>>(&value_); }
  const std::vector<JsonMember>* members() const { return std::get_if<std::vector<JsonMember>>(&value_); }
  const Json* find(std::string_view key) const;  // nullptr also if the object has no such key

  // These change a list or an object; null becomes one.
  Json& push_back(Json item);
  Json& add(std::string key, Json value);  // does not check whether the key exists
  Json& operator[](std::string_view key);

 private:
  // Whatever needs all of a member's type is in json.cpp.
  void hold(bool flag);
  void hold(int64_t number);
  void hold(uint64_t number);
  void hold(double number);
  void hold(std::string text);
  void hold(std::vector<Json> items);
  void write(std::string& text, int indent, size_t level) const;
  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, std::vector<Json>,
               std::vector<JsonMember>>
      value_;
};

struct JsonMember {
  std::string key;
  Json value;
};

// Of an object: "" and false where it has no such key, or a value of another kind.
std::string text_at(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);

// The text in quotes, with \u for what is not ASCII: a Python literal too.
std::string ascii_literal(const std::string& text);

}  // namespace dsbuild
