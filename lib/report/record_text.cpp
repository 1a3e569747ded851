#include "report/json_parts.h"

namespace dsbuild {

std::string render_recorded(const Workload& workload, const std::string& file,
                            const std::vector<std::string>& next) {
  if (file.empty()) return "dsbuild: the command loaded no op through dsbuild: no workload is written\n";
  std::string text = "dsbuild: " + plural(workload.ops(), "op") + " noted in " + file + "\n";
  for (const std::string& command : next)
    text += "next: " + command + "\n";
  return text;
}

std::string render_recorded_json(const Workload& workload, const std::string& file, int exit_code) {
  Json json = json_document();
  json["workload"] = file.empty() ? Json(nullptr) : Json(file);
  json["packs"] = Json::object();
  for (const auto& [pack, ops] : workload.packs) {
    Json archs = Json::object();
    for (const auto& [name, op] : ops)
      archs[name] = arch_strings(op.archs);
    json["packs"][pack] = archs;
  }
  json["exit_code"] = exit_code;
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
