#include "bundle/json_cursor.h"

#include "arch/arch_list.h"

namespace dsbuild {

void JsonCursor::refuse(const std::string& why) const {
  if (problem_->empty()) *problem_ = (place_.empty() ? "the document" : place_) + " " + why;
}

JsonCursor JsonCursor::at(const std::string& key) const {
  const std::string place = place_.empty() ? key : place_ + "." + key;
  if (value_ && !value_->members()) refuse("is not an object");
  const Json* found = value_ ? value_->find(key) : nullptr;
  const JsonCursor child(found, place, *problem_);
  if (!found) child.refuse("is missing");
  return child;
}

std::optional<JsonCursor> JsonCursor::find(const std::string& key) const {
  if (!value_ || !value_->find(key)) return std::nullopt;
  return at(key);
}

std::vector<JsonCursor> JsonCursor::items() const {
  std::vector<JsonCursor> cursors;
  const std::vector<Json>* list = value_ ? value_->items() : nullptr;
  if (value_ && !list) refuse("is not a list");
  for (size_t i = 0; list && i < list->size(); ++i) {
    cursors.emplace_back(&(*list)[i], place_ + "[" + std::to_string(i) + "]", *problem_);
  }
  return cursors;
}

std::vector<std::pair<std::string, JsonCursor>> JsonCursor::members() const {
  std::vector<std::pair<std::string, JsonCursor>> cursors;
  const std::vector<JsonMember>* object = value_ ? value_->members() : nullptr;
  if (value_ && !object) refuse("is not an object");
  if (!object) return cursors;
  for (const JsonMember& member : *object)
    cursors.emplace_back(member.key, JsonCursor(&member.value, place_ + "." + member.key, *problem_));
  return cursors;
}

std::string JsonCursor::text() const {
  if (value_ && value_->text()) return *value_->text();
  refuse("is not a string");
  return {};
}

std::vector<std::string> JsonCursor::texts() const {
  std::vector<std::string> all;
  for (const JsonCursor& item : items())
    all.push_back(item.text());
  return all;
}

uint64_t JsonCursor::number() const {
  if (const auto number = value_ ? value_->number() : std::nullopt) return *number;
  refuse("is not a whole number");
  return 0;
}

bool JsonCursor::flag() const {
  if (const auto flag = value_ ? value_->flag() : std::nullopt) return *flag;
  refuse("is neither true nor false");
  return false;
}

ArchSet JsonCursor::archs() const {
  ArchSet set;
  for (const JsonCursor& item : items()) {
    const auto request = parse_arch_list(item.text(), item.place_);
    if (!request || !request->explicit_only()) {
      item.refuse("is not an architecture");
      return {};
    }
    set.insert(request->targets.begin(), request->targets.end());
  }
  return set;
}

Json arch_array(const ArchSet& set) {
  return arch_strings(set);
}

std::string json_text(const Json& json) {
  return json.dump(2) + "\n";
}

}  // namespace dsbuild
