// `dsbuild report`. The layout (columns, dots, [YES]/[NO]/[OKAY]) is ds_report's, so that scripts and eyes
// that know the one read the other; the reasons and archs are ours.
#include "report/json.h"

namespace dsbuild {
namespace {

constexpr size_t k_name_width = 23;
constexpr size_t k_installed_width = 11;
constexpr size_t k_fact_width = 33;
const std::string k_line = std::string(50, '-') + "\n";

std::string dots(size_t width, size_t used) {
  return used < width ? std::string(width - used, '.') : "";
}

std::string name_cell(const std::string& name) {
  return name + " " + dots(k_name_width, name.size()) + " ";
}

std::string row_text(const ReportRow& row, const Style& style) {
  std::string text;
  for (const std::string& reason : row.reasons)
    text += style.warn(" [WARNING] ") + " " + row.op + ": " + reason + "\n";
  const std::string installed = row.installed ? "[YES]" : "[NO]";
  text += name_cell(row.op) + (row.installed ? style.good(installed) : style.warn(installed)) + " " +
          dots(k_installed_width, installed.size()) + " " +
          (row.compatible ? style.good("[OKAY]") : style.warn("[NO]"));
  if (row.installed && !row.archs.empty()) text += "  " + arch_text(row.archs);
  return text + "\n";
}

std::string fact_text(const std::string& name, const std::string& value) {
  return name + " " + dots(k_fact_width, name.size()) + " " + value + "\n";
}

}  // namespace

std::string render_report(const Report& report, const Style& style) {
  std::string text = k_line + "dsbuild op report\n" + k_line +
                     "installed: built into the bundle, with the archs listed behind the row\n"
                     "compatible: this machine has what the op needs to be built\n" +
                     k_line + "ninja " + dots(k_name_width - 5, 0) + " " +
                     (report.ninja ? style.good("[OKAY]") : style.bad("[FAIL]")) + "\n" + k_line +
                     name_cell("op name") + "installed .. compatible\n" + k_line;
  for (const ReportRow& row : report.ops)
    text += row_text(row, style);
  text += k_line + "dsbuild environment:\n";
  for (const auto& [name, value] : report.environment)
    text += fact_text(name, value);
  return text;
}

std::string render_report_json(const Report& report) {
  Json json = json_document();
  json["toolkit"] = report.toolkit ? toolkit_json(*report.toolkit) : Json(nullptr);
  json["toolkits"] = Json::array();
  for (const Toolkit& toolkit : report.toolkits.found)
    json["toolkits"].push_back(toolkit_json(toolkit));
  json["gpus"] = Json::array();
  for (const ComputeCapability& gpu : report.gpus)
    json["gpus"].push_back(gpu.text());
  json["ninja"] =
      report.ninja ? Json{{"path", report.ninja->program.string()}, {"version", report.ninja->version.text()}}
                   : Json(nullptr);
  json["ops"] = Json::array();
  for (const ReportRow& row : report.ops)
    json["ops"].push_back({{"name", row.op},
                           {"installed", row.installed},
                           {"compatible", row.compatible},
                           {"archs", arch_strings(row.archs)},
                           {"reasons", row.reasons}});
  json["environment"] = Json::object();
  for (const auto& [name, value] : report.environment)
    json["environment"][name] = value;
  json["warnings"] = warnings_json(report.warnings);
  return json_line(json);
}

}  // namespace dsbuild
