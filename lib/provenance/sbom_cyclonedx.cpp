#include "base/version.h"
#include "bundle/json_cursor.h"
#include "provenance/sbom.h"

namespace dsbuild {
namespace {

std::string ref_of(size_t place) {
  return "component-" + std::to_string(place);
}

const char* type_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::bundle:
    case ComponentKind::build_tool:
      return "application";
    case ComponentKind::file:
      return "file";
    case ComponentKind::package:
      return "framework";
    case ComponentKind::library:
    case ComponentKind::sources:
      break;
  }
  return "library";
}

Json component_json(const Component& component, size_t place) {
  Json json = {{"bom-ref", ref_of(place)}};
  if (!component.cpe.empty()) json.add("cpe", component.cpe);
  if (!component.sha256.empty() && component.kind != ComponentKind::bundle)
    json.add("hashes", std::vector<Json>{{{"alg", "SHA-256"}, {"content", component.sha256}}});
  if (!component.licence.empty())
    json.add("licenses", std::vector<Json>{{{"expression", component.licence}}});
  json.add("name", component.name);
  json.add("purl", component.purl);
  json.add("supplier", Json{{"name", component.supplier}});
  json.add("type", type_of(component.kind));
  json.add("version", component.version);
  return json;
}

Json dependencies_of(const Components& components) {
  std::vector<std::vector<std::string>> needed(components.all.size());
  for (const ComponentLink& link : components.links)
    needed[link.from].push_back(ref_of(link.to));
  Json all = Json::array();
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i].empty())
      all.push_back({{"ref", ref_of(i)}});
    else
      all.push_back({{"dependsOn", needed[i]}, {"ref", ref_of(i)}});
  }
  return all;
}

// RFC 9562's version 8: the digits are of a digest.
std::string uuid_of(std::string digest) {
  digest[12] = '8';
  digest[16] = 'a';
  std::string uuid = digest.substr(0, 32);
  for (const size_t place : {20U, 16U, 12U, 8U})
    uuid.insert(place, "-");
  return uuid;
}

}  // namespace

std::string render_cyclonedx(const Components& components, const std::string& created) {
  Json parts = Json::array();
  for (size_t i = 1; i < components.all.size(); ++i)
    parts.push_back(component_json(components.all[i], i));
  Json dsbuild = {{"name", "dsbuild"}, {"type", "application"}, {"version", k_version}};
  Json metadata = {{"component", component_json(components.all.front(), 0)},
                   {"timestamp", created},
                   {"tools", Json{{"components", std::vector<Json>{dsbuild}}}}};
  return json_text({{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
                    {"bomFormat", "CycloneDX"},
                    {"components", std::move(parts)},
                    {"dependencies", dependencies_of(components)},
                    {"metadata", std::move(metadata)},
                    {"serialNumber", "urn:uuid:" + uuid_of(components.identity)},
                    {"specVersion", "1.6"},
                    {"version", 1}});
}

}  // namespace dsbuild
