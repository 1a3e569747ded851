#include "report/json_parts.h"

namespace dsbuild {
Json json_document() {
  return {{"schema", 1}, {"dsbuild", k_version}};
}

Json message_json(const Message& message) {
  return {{"code", message.code}, {"where", message.where}, {"what", message.what}, {"fix", message.fix}};
}

Json error_json(const Error& error) {
  Json json = message_json(error);
  for (const Message& other : error.others)
    json["others"].push_back(message_json(other));
  return json;
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json list = Json::array();
  for (const Warning& w : warnings)
    list.push_back(message_json(w));
  return list;
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"kind", key_of(finding.kind)},
                    {"subject", finding.subject},
                    {"ok", finding.ok},
                    {"why", finding.why},
                    {"fix", finding.fix}});
  return list;
}

Json rejected_json(const std::vector<RejectedToolkit>& rejected) {
  Json list = Json::array();
  for (const RejectedToolkit& one : rejected)
    list.push_back({{"path", one.home.string()}, {"origin", one.origin}, {"reason", one.reason}});
  return list;
}

std::string runs_word(Runs runs, const std::optional<Target>& by) {
  switch (runs) {
    case Runs::natively:
      return "native";
    case Runs::by_generic:
      return "generic";
    case Runs::by_driver:
      return by->image_kind();
    case Runs::not_at_all:
      break;
  }
  return "none";
}

Json coverage_json(const Coverage& one) {
  return {{"gpu", one.gpu.text()},
          {"runs", runs_word(one.runs, one.by)},
          {"by", one.by ? Json(one.by->name()) : Json(nullptr)},
          {"module", one.module}};
}

Json coverage_json(const std::vector<Coverage>& coverage) {
  Json list = Json::array();
  for (const Coverage& one : coverage)
    list.push_back(coverage_json(one));
  return list;
}

Json gencodes_json(const ArchSet& set) {
  Json list = Json::array();
  for (const Target& target : set)
    list.push_back(target.flag());
  return list;
}

Json toolkit_json(const Toolkit& toolkit) {
  Json json = {{"path", toolkit.home.string()},
               {"name", toolkit.name()},
               {"version", toolkit.version.text()},
               {"archs", arch_strings(toolkit.targets)},
               {"origin", toolkit.origin}};
  json["host_compiler"] = toolkit.host ? Json(toolkit.host->path.string() + " (" + toolkit.host->family +
                                              " " + toolkit.host->version.text() + ")")
                                       : Json(nullptr);
  return json;
}

std::string json_line(const Json& json) {
  return json.dump() + "\n";
}

}  // namespace dsbuild
