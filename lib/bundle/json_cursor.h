// Reads JSON strictly and without exceptions. A cursor remembers the first problem; after that, every read
// returns an empty value. So the caller checks for a problem once, at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/target.h"
#include "base/json.h"
#include "base/result.h"

namespace dsbuild {

class JsonCursor {
 public:
  JsonCursor(const Json* value, std::string place, std::string& problem)
      : value_(value), place_(std::move(place)), problem_(&problem) {}

  JsonCursor at(const std::string& key) const;                   // of an object; an absent key is a problem
  std::optional<JsonCursor> find(const std::string& key) const;  // nullopt: the key is absent
  std::vector<JsonCursor> items() const;
  std::vector<std::pair<std::string, JsonCursor>> members() const;  // of an object
  std::string text() const;
  std::vector<std::string> texts() const;
  uint64_t number() const;
  bool flag() const;
  bool is_null() const { return value_ && value_->is_null(); }
  ArchSet archs() const;  // ["7.0","8.0+PTX"]: the form of arch_strings
  void refuse(const std::string& why) const;

 private:
  const Json* value_;     // null after a problem
  std::string place_;     // "ops[2].bytes"
  std::string* problem_;  // of the whole document
};

// Parses `json` and passes the top object to `read`, which makes the value. Errors: exit 1 with `code`,
// `where` = file.
template <class T, class Read>
Result<T> read_json(std::string_view json, MessageCode code, const std::string& file, Read read) {
  const std::optional<Json> document = Json::parse(json);
  std::string problem = document ? "" : "is not valid JSON";
  T value{};
  if (document) value = read(JsonCursor(&*document, "", problem));
  if (problem.empty()) return value;
  return fail(Exit::failed, code, file, problem,
              "It was written by another program or changed by hand; build again.");
}

// arch_strings as JSON.
Json arch_array(const ArchSet& set);
// Two-space indent and a final newline; invalid UTF-8 becomes U+FFFD.
std::string json_text(const Json& json);

}  // namespace dsbuild
