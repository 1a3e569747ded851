#include "report/schema.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

constexpr const char* k_dialect = "https://json-schema.org/draft/2020-12/schema";
constexpr std::string_view k_definitions = "#/$defs/";

using Load = std::function<Result<Json>(const std::string& name)>;

class Bundler {
 public:
  explicit Bundler(const Load& load) : load_(load) {}

  // A copy whose references are to this document; `file`: where it stands, "" for the document itself.
  Result<Json> copy(const Json& value, const std::string& file) {
    if (const auto* items = value.items()) {
      Json list = Json::array();
      for (const Json& item : *items) {
        DSBUILD_TRY(copied, copy(item, file));
        list.push_back(std::move(copied));
      }
      return list;
    }
    const auto* members = value.members();
    if (!members) return value;
    Json object = Json::object();
    for (const JsonMember& member : *members) {
      if (member.key == "$ref" && member.value.text()) {
        DSBUILD_TRY(reference, resolve(*member.value.text(), file));
        object.add(member.key, reference);
        continue;
      }
      DSBUILD_TRY(copied, copy(member.value, file));
      object.add(member.key, std::move(copied));
    }
    return object;
  }

  const std::map<std::string, Json>& taken() const { return taken_; }

 private:
  Result<std::string> resolve(const std::string& reference, const std::string& from) {
    const size_t at = reference.find(k_definitions);
    const std::string named = reference.substr(0, at), file = named.empty() ? from : named;
    const std::string definition = reference.substr(at + k_definitions.size());
    if (!file.empty() && taken_.count(definition) == 0) {
      DSBUILD_TRY(schema, load_(file));
      taken_[definition] = nullptr;  // it may name itself
      const Json* definitions = schema.find("$defs");
      const Json* found = definitions ? definitions->find(definition) : nullptr;
      DSBUILD_TRY(copied, copy(found ? *found : Json(false), file));
      taken_[definition] = std::move(copied);
    }
    return std::string(k_definitions) + definition;
  }

  const Load& load_;
  std::map<std::string, Json> taken_;
};

using Texts = std::vector<std::string>;

// A value of a config file is read as text.
Json text_schema() {
  return {{"type", Texts{"string", "number"}}};
}

Json choice_schema(const Texts& choices) {
  Json schema = {{"enum", choices}};
  if (std::ranges::find(choices, "on") != choices.end())  // to some readers of YAML `on` is true
    schema = {{"anyOf", std::vector<Json>{std::move(schema), {{"type", "boolean"}}}}};
  return schema;
}

Json text_or_list_schema() {
  const Json list = {{"type", "array"}, {"items", text_schema()}};
  return {{"anyOf", std::vector<Json>{text_schema(), list}}};
}

// What a config file may hold for an option.
Json value_schema(const Option& option) {
  const Texts choices = split(option.type, "|");
  const bool is_choice = choices.size() > 1 && option.type == to_lower(option.type);
  if (option.is_flag())
    return {{"type", Texts{"boolean", "integer", "string"}},
            {"pattern", "^(true|false|on|off|yes|no|[0-9]+)$"}};
  if (option.type == "N" || option.type == "SECONDS") return {{"type", Texts{"integer", "string"}}};
  if (takes_list(option.setting)) return text_or_list_schema();
  // Several of --backend may stand in one text.
  return is_choice && option.setting != "backend" ? choice_schema(choices) : text_schema();
}

Json described(Json schema, const Option& option) {
  schema["description"] = option.help;
  return schema;
}

Json map_schema(const char* title, Json properties) {
  Json schema = Json::object();
  schema["$schema"] = k_dialect;
  schema["title"] = title;
  schema["type"] = Texts{"object", "null"};
  schema["properties"] = std::move(properties);
  schema["additionalProperties"] = false;
  return schema;
}

}  // namespace

Result<Json> bundle_schema(const Json& schema, const Load& load) {
  Bundler bundler(load);
  DSBUILD_TRY(whole, bundler.copy(schema, ""));
  for (const auto& [name, definition] : bundler.taken())
    whole["$defs"][name] = definition;
  return whole;
}

Json config_schema() {
  Json properties = Json::object();
  for (const Option& option : options())
    if (!option.names.empty() && !option.setting.empty())
      properties[option.setting] = described(value_schema(option), option);
  return map_schema("dsbuild.yaml and --config FILE of dsbuild: options by their names",
                    std::move(properties));
}

Json policy_schema() {
  Json properties = Json::object();
  for (const Option& option : options())
    if (!option.policy.empty())
      properties[option.policy] =
          described(takes_list_in_policy(option) ? text_or_list_schema() : value_schema(option), option);
  return map_schema("--policy FILE of dsbuild verify: what a bundle must be", std::move(properties));
}

}  // namespace dsbuild
