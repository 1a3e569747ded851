// What a bundle is made of, as bills of materials list it: from its manifest and its statement.
#pragma once

#include <string>
#include <vector>

#include "provenance/statement.h"

namespace dsbuild {

// The licence of a tool or package that statements name ("CUDA", "torch"); "": not known.
std::string licence_of_product(const std::string& name);

enum class ComponentKind { bundle, library, sources, package, build_tool, file };

struct Component {
  ComponentKind kind = ComponentKind::file;
  std::string name, version, supplier;
  std::string licence;  // an expression of SPDX's; "": not known
  std::string purl, cpe;
  std::string sha256;
  std::string repository;  // "git+https://…@<commit>"
  bool operator==(const Component&) const = default;
};

enum class Relation { contains, made_of, links_statically, links_dynamically, needs, built_by };

// Places in Components::all.
struct ComponentLink {
  size_t from = 0, to = 0;
  Relation relation = Relation::contains;
  bool operator==(const ComponentLink&) const = default;
};

struct Components {
  std::vector<Component> all;  // the bundle, its libraries, what these are made of in the statement's order
  std::vector<ComponentLink> links;
  std::string identity;  // SHA-256 of the statement without its run
};

Components components_of(const Manifest& manifest, const Statement& statement);

}  // namespace dsbuild
