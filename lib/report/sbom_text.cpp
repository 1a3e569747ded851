#include "report/json_parts.h"

namespace dsbuild {

std::string render_sbom_written(const std::string& file, size_t components) {
  return file + ": " + plural(components, "component") + "\n";
}

std::string render_sbom_json(const std::string& file, size_t components) {
  Json json = json_document();
  json["sbom"] = file;
  json["components"] = components;
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
