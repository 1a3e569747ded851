#include "requirements/places.h"

#include "sys/site_packages.h"

namespace dsbuild {
namespace {

// By the name of the variable or of the package; the same package may lie in several folders.
std::vector<std::pair<std::string, Path>> prefixes(const ProbeInput& input) {
  const Requirement& requirement = input.requirement;
  const FileReader& files = input.system.files;
  std::vector<std::pair<std::string, Path>> found;
  const std::string root = input.settings.variable(requirement.root);
  if (!root.empty()) found.emplace_back(requirement.root, files.absolute(root));
  if (requirement.package.empty()) return found;
  for (const Path& packages : find_site_packages(input.system, input.settings.python.value)) {
    if (files.kind(packages / requirement.package) == FileKind::directory)
      found.emplace_back(requirement.package, packages / requirement.package);
  }
  return found;
}

}  // namespace

std::vector<std::string> include_places(const ProbeInput& input) {
  std::vector<std::string> places;
  for (const auto& [name, prefix] : prefixes(input)) {
    if (input.system.files.kind(prefix / "include") == FileKind::directory)
      places.push_back((prefix / "include").string());
  }
  return places;
}

std::map<std::string, std::string> roots_of_places(const ProbeInput& input) {
  std::map<std::string, std::string> roots;
  for (const auto& [name, prefix] : prefixes(input))
    roots.emplace(replace_all(to_lower(name), "/", "_"), prefix.string());
  return roots;
}

// A Python package may hold its libraries without a folder of their own.
std::vector<std::string> library_places(const ProbeInput& input) {
  const std::string file = "lib" + subject_of(input) + ".so";
  std::vector<std::string> places;
  for (const auto& [name, prefix] : prefixes(input)) {
    for (const Path& folder : {prefix / "lib", prefix / "lib64", prefix}) {
      if (input.system.files.kind(folder / file) == FileKind::file) places.push_back(folder.string());
    }
  }
  return places;
}

}  // namespace dsbuild
