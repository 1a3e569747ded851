#include "bundle/json_cursor.h"

#include "arch/arch_list.h"

namespace dsbuild {

void JsonCursor::refuse(const std::string& why) const {
  if (problem_->empty()) *problem_ = (place_.empty() ? "the document" : place_) + " " + why;
}

JsonCursor JsonCursor::at(const std::string& key) const {
  const std::string place = place_.empty() ? key : place_ + "." + key;
  if (value_ && !value_->is_object()) refuse("is no object");
  const bool found = value_ && value_->is_object() && value_->contains(key);
  const JsonCursor child(found ? &value_->at(key) : nullptr, place, *problem_);
  if (!found) child.refuse("is missing");
  return child;
}

std::optional<JsonCursor> JsonCursor::find(const std::string& key) const {
  if (!value_ || !value_->is_object() || !value_->contains(key)) return std::nullopt;
  return at(key);
}

std::vector<JsonCursor> JsonCursor::items() const {
  std::vector<JsonCursor> cursors;
  if (value_ && !value_->is_array()) refuse("is no list");
  if (!value_ || !value_->is_array()) return cursors;
  for (size_t i = 0; i < value_->size(); ++i) {
    cursors.emplace_back(&(*value_)[i], place_ + "[" + std::to_string(i) + "]", *problem_);
  }
  return cursors;
}

std::string JsonCursor::text() const {
  if (value_ && value_->is_string()) return value_->get<std::string>();
  refuse("is no text");
  return {};
}

std::vector<std::string> JsonCursor::texts() const {
  std::vector<std::string> all;
  for (const JsonCursor& item : items())
    all.push_back(item.text());
  return all;
}

uint64_t JsonCursor::number() const {
  if (value_ && value_->is_number_unsigned()) return value_->get<uint64_t>();
  refuse("is no whole number");
  return 0;
}

bool JsonCursor::flag() const {
  if (value_ && value_->is_boolean()) return value_->get<bool>();
  refuse("is neither true nor false");
  return false;
}

ArchSet JsonCursor::archs() const {
  ArchSet set;
  for (const JsonCursor& item : items()) {
    const auto request = parse_arch_list(item.text(), item.place_);
    if (!request || !request->explicit_only()) {
      item.refuse("is no architecture");
      return {};
    }
    set.insert(request->targets.begin(), request->targets.end());
  }
  return set;
}

Json arch_array(const ArchSet& set) {
  Json array = Json::array();
  for (const std::string& arch : arch_strings(set))
    array.push_back(arch);
  return array;
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dsbuild
