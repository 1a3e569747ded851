#include "base/version.h"
#include "bundle/json_cursor.h"
#include "provenance/licences.h"
#include "provenance/sbom.h"

namespace dsbuild {
namespace {

constexpr const char *k_unknown = "NOASSERTION", *k_document = "SPDXRef-DOCUMENT";

std::string id_of(size_t place) {
  return "SPDXRef-Package-" + std::to_string(place);
}

const char* purpose_of(ComponentKind kind) {
  switch (kind) {
    case ComponentKind::bundle:
      return "ARCHIVE";
    case ComponentKind::library:
      return "LIBRARY";
    case ComponentKind::sources:
      return "SOURCE";
    case ComponentKind::package:
      return "FRAMEWORK";
    case ComponentKind::build_tool:
      return "APPLICATION";
    case ComponentKind::file:
      break;
  }
  return "FILE";
}

// From which one to which, where SPDX has the other direction.
struct RelationWord {
  const char* word;
  bool is_reversed = false;
};
RelationWord word_for(Relation relation) {
  switch (relation) {
    case Relation::contains:
      return {"CONTAINS"};
    case Relation::made_of:
      return {"GENERATED_FROM"};
    case Relation::links_statically:
      return {"STATIC_LINK"};
    case Relation::links_dynamically:
      return {"DYNAMIC_LINK"};
    case Relation::needs:
      return {"DEPENDS_ON"};
    case Relation::built_by:
      break;
  }
  return {"BUILD_TOOL_OF", true};
}

Json reference(const char* category, const char* type, const std::string& locator) {
  return {{"referenceCategory", category}, {"referenceLocator", locator}, {"referenceType", type}};
}

// A file of SPDX's must have a SHA-1. Statements have none, so files are packages of one file.
Json package_json(const Component& component, size_t place) {
  Json references = Json::array();
  references.push_back(reference("PACKAGE-MANAGER", "purl", component.purl));
  if (!component.cpe.empty()) references.push_back(reference("SECURITY", "cpe23Type", component.cpe));
  const std::string licence = component.licence.empty() ? k_unknown : component.licence;
  Json json = {{"SPDXID", id_of(place)}};
  if (!component.sha256.empty() && component.kind != ComponentKind::bundle)
    json.add("checksums", std::vector<Json>{{{"algorithm", "SHA256"}, {"checksumValue", component.sha256}}});
  json.add("copyrightText", k_unknown);
  json.add("downloadLocation", component.repository.empty() ? k_unknown : component.repository);
  json.add("externalRefs", std::move(references));
  json.add("filesAnalyzed", false);
  json.add("licenseConcluded", licence);
  json.add("licenseDeclared", licence);
  json.add("name", component.name);
  if (component.kind == ComponentKind::library || component.kind == ComponentKind::file)
    json.add("packageFileName", component.name);
  json.add("primaryPackagePurpose", purpose_of(component.kind));
  json.add("supplier", "Organization: " + component.supplier);
  json.add("versionInfo", component.version);
  return json;
}

Json relationship(const std::string& from, const char* word, const std::string& to) {
  return {{"relatedSpdxElement", to}, {"relationshipType", word}, {"spdxElementId", from}};
}

Json relationships_of(const Components& components) {
  Json all = Json::array();
  all.push_back(relationship(k_document, "DESCRIBES", id_of(0)));
  for (const ComponentLink& link : components.links) {
    const RelationWord words = word_for(link.relation);
    const size_t from = words.is_reversed ? link.to : link.from;
    const size_t to = words.is_reversed ? link.from : link.to;
    all.push_back(relationship(id_of(from), words.word, id_of(to)));
  }
  return all;
}

Json nvidias_licence() {
  return {{"extractedText",
           std::string("End User License Agreement of the CUDA Toolkit: ") + k_nvidia_licence_url},
          {"licenseId", k_nvidia_licence},
          {"name", "NVIDIA CUDA Toolkit End User License Agreement"},
          {"seeAlsos", std::vector<std::string>{k_nvidia_licence_url}}};
}

bool names_nvidias_licence(const Components& components) {
  for (const Component& component : components.all)
    if (component.licence.find(k_nvidia_licence) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string render_spdx(const Components& components, const std::string& created) {
  Json packages = Json::array();
  for (size_t i = 0; i < components.all.size(); ++i)
    packages.push_back(package_json(components.all[i], i));
  Json document = {{"SPDXID", k_document},
                   {"creationInfo",
                    Json{{"created", created},
                         {"creators", std::vector<std::string>{std::string("Tool: dsbuild-") + k_version}}}},
                   {"dataLicense", "CC0-1.0"},
                   {"documentNamespace", "urn:dsbuild:spdx:sha256:" + components.identity}};
  if (names_nvidias_licence(components))
    document.add("hasExtractedLicensingInfos", std::vector<Json>{nvidias_licence()});
  document.add("name", components.all.front().name + "-" + components.all.front().version);
  document.add("packages", std::move(packages));
  document.add("relationships", relationships_of(components));
  document.add("spdxVersion", "SPDX-2.3");
  return json_text(document);
}

}  // namespace dsbuild
