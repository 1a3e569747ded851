#include "requirements/places.h"

#include "sys/site_packages.h"

namespace dsbuild {
namespace {

std::vector<Path> prefixes(const ProbeInput& input) {
  const Requirement& requirement = input.requirement;
  const FileReader& files = input.system.files;
  std::vector<Path> found;
  const std::string root = input.settings.variable(requirement.root);
  if (!root.empty()) found.push_back(files.absolute(root));
  if (requirement.package.empty()) return found;
  for (const Path& packages : find_site_packages(input.system, input.settings.python.value)) {
    if (files.kind(packages / requirement.package) == FileKind::directory)
      found.push_back(packages / requirement.package);
  }
  return found;
}

}  // namespace

std::vector<std::string> include_places(const ProbeInput& input) {
  std::vector<std::string> places;
  for (const Path& prefix : prefixes(input)) {
    if (input.system.files.kind(prefix / "include") == FileKind::directory)
      places.push_back((prefix / "include").string());
  }
  return places;
}

// A Python package may hold its libraries without a folder of their own.
std::vector<std::string> library_places(const ProbeInput& input) {
  const std::string file = "lib" + subject_of(input) + ".so";
  std::vector<std::string> places;
  for (const Path& prefix : prefixes(input)) {
    for (const Path& folder : {prefix / "lib", prefix / "lib64", prefix}) {
      if (input.system.files.kind(folder / file) == FileKind::file) places.push_back(folder.string());
    }
  }
  return places;
}

}  // namespace dsbuild
