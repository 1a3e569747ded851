#include "base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace dsbuild {
namespace {

using Library = nlohmann::json;
constexpr size_t k_deepest = 100;  // a hostile document must not use up the stack

std::string library_text(const Library& leaf, bool ascii = false) {
  return leaf.dump(-1, ' ', ascii, Library::error_handler_t::replace);
}

bool is_plain_in_json(char c) {
  return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// GitHub's runner obeys it in the middle of a line.
constexpr std::string_view k_command = "##[";

// What JSON allows and a terminal or GitHub's runner obeys; escaped, it is the same text.
std::string with_escapes(const std::string& literal) {
  const std::string text = visible(replace_all(literal, "\x7f", "\\u007f"));
  return replace_all(text, k_command, "##\\u005b");
}

// Nearly all texts are plain, and a file of facts holds thousands.
std::string literal(const std::string& text) {
  const bool is_plain =
      std::ranges::all_of(text, is_plain_in_json) && text.find(k_command) == std::string::npos;
  return is_plain ? '"' + text + '"' : with_escapes(library_text(text));
}

void start_line(std::string& text, int indent, size_t level) {
  if (indent < 0) return;
  text += '\n';
  text.append(static_cast<size_t>(indent) * level, ' ');
}

// Builds the value while the library reads. `open_` are the lists and objects around the place of reading:
// only the innermost grows, so those around it stay where they are.
class Builder : public nlohmann::json_sax<Library> {
 public:
  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(value); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override {
    key_ = std::move(key);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Library::exception&) override { return false; }

  Json take() { return std::move(root_); }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    return open_.back()->members() ? open_.back()->add(std::move(key_), std::move(value))
                                   : open_.back()->push_back(std::move(value));
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() == k_deepest) return false;
    open_.push_back(&place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

Json::Json(std::initializer_list<JsonMember> members) : value_(std::vector<JsonMember>(members)) {}

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

void Json::hold(bool flag) {
  value_ = flag;
}
void Json::hold(int64_t number) {
  value_ = number;
}
void Json::hold(uint64_t number) {
  value_ = number;
}
void Json::hold(double number) {
  value_ = number;
}
void Json::hold(std::string text) {
  value_ = std::move(text);
}
void Json::hold(std::vector<Json> items) {
  value_ = std::move(items);
}

Json Json::array() {
  return std::vector<Json>{};
}

Json Json::object() {
  return std::initializer_list<JsonMember>{};
}

std::optional<Json> Json::parse(std::string_view text) {
  Builder builder;
  if (!Library::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

std::optional<bool> Json::flag() const {
  const bool* flag = std::get_if<bool>(&value_);
  return flag ? std::optional(*flag) : std::nullopt;
}

std::optional<uint64_t> Json::number() const {
  if (const auto* number = std::get_if<uint64_t>(&value_)) return *number;
  const auto* number = std::get_if<int64_t>(&value_);
  return number && *number >= 0 ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
}

const Json* Json::find(std::string_view key) const {
  const auto* all = members();
  if (!all) return nullptr;
  const auto found =
      std::find_if(all->rbegin(), all->rend(), [&](const auto& one) { return one.key == key; });
  return found == all->rend() ? nullptr : &found->value;
}

Json& Json::push_back(Json item) {
  if (is_null()) *this = array();
  return std::get<std::vector<Json>>(value_).emplace_back(std::move(item));
}

Json& Json::add(std::string key, Json value) {
  if (is_null()) *this = object();
  auto& members = std::get<std::vector<JsonMember>>(value_);
  members.push_back({std::move(key), std::move(value)});
  return members.back().value;
}

Json& Json::operator[](std::string_view key) {
  const Json* found = find(key);
  return found ? const_cast<Json&>(*found) : add(std::string(key), nullptr);
}

std::string Json::dump(int indent) const {
  std::string text;
  write(text, indent, 0);
  return text;
}

void Json::write(std::string& text, int indent, size_t level) const {
  const auto write_all = [&](char open, char close, const auto& parts, const auto& write_part) {
    text += open;
    for (const auto& part : parts) {
      if (&part != &parts.front()) text += ',';
      start_line(text, indent, level + 1);
      write_part(part);
    }
    if (!parts.empty()) start_line(text, indent, level);
    text += close;
  };
  if (const auto* list = items()) {
    write_all('[', ']', *list, [&](const Json& item) { item.write(text, indent, level + 1); });
  } else if (const auto* all = members()) {
    write_all('{', '}', *all, [&](const JsonMember& member) {
      text += literal(member.key) + (indent < 0 ? ":" : ": ");
      member.value.write(text, indent, level + 1);
    });
  } else if (const auto* string = this->text()) {
    text += literal(*string);
  } else if (const auto* whole = std::get_if<int64_t>(&value_)) {
    text += std::to_string(*whole);
  } else if (const auto* natural = std::get_if<uint64_t>(&value_)) {
    text += std::to_string(*natural);
  } else if (const auto* real = std::get_if<double>(&value_)) {
    text += library_text(*real);
  } else if (const auto truth = flag()) {
    text += *truth ? "true" : "false";
  } else {
    text += "null";
  }
}

std::string text_at(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found && found->text() ? *found->text() : "";
}

bool is_true(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found && found->flag().value_or(false);
}

std::string ascii_literal(const std::string& text) {
  return library_text(text, true);
}

}  // namespace dsbuild
