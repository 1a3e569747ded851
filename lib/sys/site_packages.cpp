#include "sys/site_packages.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/version.h"

namespace dsbuild {
namespace {

void add_below(const FileReader& files, const Path& prefix, std::vector<Path>& found) {
  for (const char* lib : {"lib", "lib64"}) {
    for (const std::string& python : by_version(files, prefix / lib, "python")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        const Path folder = prefix / lib / python / packages;
        const bool known = std::find(found.begin(), found.end(), folder) != found.end();
        if (!known && files.kind(folder) == FileKind::directory) found.push_back(folder);
      }
    }
  }
}

// A virtual environment's bin/python3 is a link to the real one, whose packages are not its own:
// so the prefix by the name on PATH comes first, then the one by the real path.
void add_python_prefix(const System& system, const std::string& python, std::vector<Path>& found) {
  const auto program = find_program(system.files, python, variable(system.environment, "PATH"));
  if (!program) return;
  add_below(system.files, system.files.absolute(*program).parent_path().parent_path(), found);
  const std::optional<Path> real = system.files.real_path(*program);
  if (real) add_below(system.files, real->parent_path().parent_path(), found);
}

}  // namespace

std::vector<std::string> by_version(const FileReader& files, const Path& folder, const std::string& prefix) {
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names) return {};
  std::multimap<Version, std::string, std::greater<>> found;
  for (const std::string& name : *names) {
    if (name.rfind(prefix, 0) != 0) continue;
    if (const auto version = parse_version(std::string_view(name).substr(prefix.size())))
      found.emplace(*version, name);
  }
  std::vector<std::string> sorted;
  for (const auto& [version, name] : found)
    sorted.push_back(name);
  return sorted;
}

std::vector<Path> find_site_packages(const System& system, const std::string& python) {
  std::vector<Path> found;
  for (const auto& [name, below] : {std::pair{"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""}, {"HOME", ".local"}}) {
    const Path prefix = variable(system.environment, name);
    if (prefix.empty()) continue;
    add_below(system.files, *below == '\0' ? prefix : prefix / below, found);
  }
  if (!system.program.empty()) add_below(system.files, system.program.parent_path().parent_path(), found);
  add_below(system.files, "/usr/local", found);
  add_below(system.files, "/usr", found);
  add_python_prefix(system, python, found);
  return found;
}

std::vector<Path> site_packages_of(const System& system, const std::string& python) {
  std::vector<Path> found;
  add_python_prefix(system, python, found);
  return found;
}

}  // namespace dsbuild
