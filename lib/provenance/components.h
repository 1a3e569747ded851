// Lists the components of a bundle for a bill of materials (SBOM), from its manifest and its statement.
#pragma once

#include <string>
#include <vector>

#include "provenance/statement.h"

namespace dsbuild {

// The licence of a tool or package that statements name ("CUDA", "torch"); "": unknown.
std::string licence_of_product(const std::string& name);

enum class ComponentKind { bundle, library, sources, package, build_tool, file };

struct Component {
  ComponentKind kind = ComponentKind::file;
  std::string name, version, supplier;
  std::string licence;  // an SPDX expression; "": unknown
  std::string purl, cpe;
  std::string sha256;
  std::string repository;  // "git+https://…@<commit>"
  bool operator==(const Component&) const = default;
};

enum class Relation { contains, made_of, links_statically, links_dynamically, needs, built_by };

// Indices into Components::all.
struct ComponentLink {
  size_t from = 0, to = 0;
  Relation relation = Relation::contains;
  bool operator==(const ComponentLink&) const = default;
};

struct Components {
  std::vector<Component> all;  // the bundle, its libraries, and their inputs in the statement's order
  std::vector<ComponentLink> links;
  std::string identity;  // SHA-256 of the statement without BuildRun
};

Components components_of(const Manifest& manifest, const Statement& statement);

}  // namespace dsbuild
