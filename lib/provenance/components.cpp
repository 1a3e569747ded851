#include "provenance/components.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/text.h"
#include "base/uri.h"
#include "base/version.h"
#include "provenance/licences.h"

namespace dsbuild {
namespace {

// Who a component is from.
struct Origin {
  std::string supplier, licence, version;
};

constexpr const char *k_nvidia = "NVIDIA Corporation", *k_gnu = "GNU Project", *k_llvm = "LLVM Foundation",
                     *k_system = "Operating system of the builder";
constexpr const char *k_gcc_licence = "GPL-3.0-or-later",
                     *k_gcc_runtime_licence = "GPL-3.0-or-later WITH GCC-exception-3.1",
                     *k_llvm_licence = "Apache-2.0 WITH LLVM-exception";

// What is known of a tool or a package by its name in statements.
struct KnownProduct {
  const char *name, *supplier, *licence, *cpe;  // cpe: vendor and product; "": none
};
constexpr std::array k_products = {
    KnownProduct{"CUDA", k_nvidia, k_nvidia_licence, "nvidia:cuda_toolkit"},
    KnownProduct{"HIP clang", "Advanced Micro Devices", k_llvm_licence, ""},
    KnownProduct{"icpx", "Intel Corporation", "", ""},
    KnownProduct{"gcc", k_gnu, k_gcc_licence, "gnu:gcc"},
    KnownProduct{"clang", k_llvm, k_llvm_licence, "llvm:clang"},
    KnownProduct{"torch", "PyTorch Foundation", "BSD-3-Clause", "linuxfoundation:pytorch"},
    KnownProduct{"apache-tvm-ffi", "Apache Software Foundation", "Apache-2.0", ""},
};
constexpr KnownProduct k_other_product = {"", k_system, "", ""};

const KnownProduct& product(const std::string& name) {
  const auto found = std::ranges::find(k_products, name, &KnownProduct::name);
  return found == k_products.end() ? k_other_product : *found;
}

// A local label ("+cu130") is no part of a version there.
std::string cpe_of(const KnownProduct& known, const std::string& version) {
  if (*known.cpe == '\0') return "";
  return std::string("cpe:2.3:a:") + known.cpe + ":" + version.substr(0, version.find('+')) +
         ":*:*:*:*:*:*:*";
}

std::string generic_purl(const std::string& name, const std::string& version, const std::string& sha256) {
  const size_t begin = name.find_first_not_of('/');
  std::string purl =
      "pkg:generic/" + uri_encode(begin == std::string::npos ? name : name.substr(begin), true);
  if (!version.empty()) purl += "@" + uri_encode(version, true);
  return sha256.empty() ? purl : purl + "?checksum=sha256:" + sha256;
}

// The version of that with this name; "": there is none.
std::string version_of(const Statement& statement, const std::string& name) {
  const auto found = std::ranges::find(statement.dependencies, name, &Dependency::name);
  return found == statement.dependencies.end() ? "" : found->version;
}

Origin of_product(const Statement& statement, const std::string& name) {
  const KnownProduct& known = product(name);
  return {known.supplier, known.licence, version_of(statement, name)};
}

// The folders of tools and packages (exec/roots.h) -> whose they are.
Origin of_root(const Statement& statement, const std::string& path) {
  const std::vector<std::string> folders = split(path, "/");
  const std::string root = folders.size() > 1 ? folders[1] : k_system;
  if (root.starts_with("cuda")) return of_product(statement, "CUDA");
  if (root.starts_with("torch")) return of_product(statement, "torch");
  if (root.starts_with("tvm_ffi")) return of_product(statement, "apache-tvm-ffi");
  return {root, "", ""};
}

bool is_of_gcc(const std::string& name) {
  const std::string path = Path(name).lexically_normal().string();
  return path.find("/gcc/") != std::string::npos || path.find("/c++/") != std::string::npos;
}

std::string compiler_in(const Statement& statement) {
  const auto found = std::ranges::find(statement.dependencies, k_of_compiler, &Dependency::kind);
  return found == statement.dependencies.end() ? "" : found->name;
}

Origin origin_of(const Dependency& file, const Manifest& manifest, const Statement& statement) {
  if (file.name.starts_with("pack/")) return {manifest.pack, manifest.license, manifest.source_version};
  if (file.name.starts_with("roots/")) return of_root(statement, file.name);
  if (file.kind == k_of_compiler_part && !file.name.starts_with("/lib"))
    return of_product(statement, compiler_in(statement));
  if (!is_of_gcc(file.name)) return {k_system, "", ""};
  return {k_gnu, k_gcc_runtime_licence, version_of(statement, "gcc")};
}

// Where a version is asked for and none is known, the content is the version.
std::string version_by(const std::string& known, const std::string& sha256) {
  constexpr size_t k_digits = 12;
  return known.empty() ? sha256.substr(0, k_digits) : known;
}

Component component_of(const Dependency& dependency, const Manifest& manifest, const Statement& statement) {
  Component component;
  component.name = dependency.name;
  component.sha256 = dependency.sha256;
  component.repository = dependency.kind == k_of_pack ? dependency.uri : "";
  if (!dependency.sha256.empty()) {
    const Origin origin = origin_of(dependency, manifest, statement);
    component.version = version_by(origin.version, dependency.sha256);
    component.supplier = origin.supplier;
    component.licence = origin.licence;
    component.purl = generic_purl(dependency.name, component.version, dependency.sha256);
    return component;
  }
  if (dependency.kind == k_of_pack) {
    component.kind = ComponentKind::sources;
    component.version = version_by(dependency.version, dependency.commit);
    component.supplier = dependency.name;
    component.licence = manifest.license;
    component.purl = generic_purl(dependency.name, component.version, "");
    if (!dependency.uri.empty()) component.purl += "?vcs_url=" + uri_encode(dependency.uri, true);
    return component;
  }
  const KnownProduct& known = product(dependency.name);
  component.kind = dependency.kind == k_of_package ? ComponentKind::package : ComponentKind::build_tool;
  component.version = dependency.version;
  component.supplier = known.supplier;
  component.licence = known.licence;
  component.purl = dependency.uri;
  component.cpe = cpe_of(known, dependency.version);
  return component;
}

Relation relation_to(const std::string& kind) {
  if (kind == k_of_static_library || kind == k_of_object) return Relation::links_statically;
  if (kind == k_of_shared_library) return Relation::links_dynamically;
  if (kind == k_of_package) return Relation::needs;
  const bool is_tool = kind == k_of_toolkit || kind == k_of_toolkit_part || kind == k_of_compiler ||
                       kind == k_of_compiler_part;
  return is_tool ? Relation::built_by : Relation::made_of;
}

// That of the ops, and of what is linked into them.
std::string licence_of_library(const std::string& file, const Manifest& manifest,
                               const Statement& statement) {
  std::set<std::string> linked;
  for (const Dependency& dependency : statement.dependencies)
    if (dependency.kind == k_of_static_library && dependency.used_by.contains(file))
      linked.insert(origin_of(dependency, manifest, statement).licence);
  return joined_licences(manifest.license, {linked.begin(), linked.end()});
}

Component bundle_of(const Manifest& manifest, const Statement& statement) {
  Component bundle;
  bundle.kind = ComponentKind::bundle;
  bundle.name = manifest.pack + "-ops";
  const auto subject = std::ranges::find(statement.subjects, "manifest.json", &Subject::name);
  bundle.sha256 = subject == statement.subjects.end() ? "" : subject->sha256;
  bundle.version = version_by(manifest.source_version, bundle.sha256);
  bundle.supplier = manifest.pack;
  bundle.licence = manifest.license;
  bundle.purl = generic_purl(bundle.name, bundle.version, "");
  return bundle;
}

std::string identity_of(Statement statement) {
  statement.run = {};
  return sha256(render_statement(statement));
}

}  // namespace

std::string licence_of_product(const std::string& name) {
  return product(name).licence;
}

Components components_of(const Manifest& manifest, const Statement& statement) {
  Components components;
  components.identity = identity_of(statement);
  components.all.push_back(bundle_of(manifest, statement));
  std::map<std::string, size_t> libraries;
  for (const ManifestOp& op : manifest.ops) {
    const size_t place = components.all.size();
    libraries[op.file] = place;
    Component library = components.all.front();
    library.kind = ComponentKind::library;
    library.name = op.file;
    library.sha256 = op.sha256;
    library.licence = licence_of_library(op.file, manifest, statement);
    library.purl = generic_purl(op.file, library.version, op.sha256);
    components.all.push_back(std::move(library));
    components.links.push_back({0, place, Relation::contains});
  }
  for (const Dependency& dependency : statement.dependencies) {
    const size_t place = components.all.size();
    components.all.push_back(component_of(dependency, manifest, statement));
    for (const std::string& user : dependency.used_by)
      if (const auto library = libraries.find(user); library != libraries.end())
        components.links.push_back({library->second, place, relation_to(dependency.kind)});
  }
  return components;
}

}  // namespace dsbuild
