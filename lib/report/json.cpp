#include "report/json.h"

namespace dsbuild {

Json json_document() {
  return {{"schema", 1}, {"dsbuild", k_version}};
}

Json warnings_json(const std::vector<Warning>& warnings) {
  Json list = Json::array();
  for (const Warning& w : warnings)
    list.push_back({{"code", w.code}, {"where", w.where}, {"what", w.what}, {"fix", w.fix}});
  return list;
}

Json gencodes_json(const ArchSet& set) {
  Json list = Json::array();
  for (const Target& target : set)
    list.push_back(target.gencode());
  return list;
}

Json toolkit_json(const Toolkit& toolkit) {
  Json json = {{"path", toolkit.home.string()},
               {"version", toolkit.version.text()},
               {"archs", arch_strings(toolkit.targets)},
               {"origin", toolkit.origin}};
  json["host_compiler"] = toolkit.host ? Json(toolkit.host->path.string() + " (" + toolkit.host->family +
                                              " " + toolkit.host->version.text() + ")")
                                       : Json(nullptr);
  return json;
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dsbuild
