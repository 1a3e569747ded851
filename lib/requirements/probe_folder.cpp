// {folder: numpy/_core/include, in: packages}: a folder with headers that lies outside of the pack. What its
// headers need is not looked at; the op's sources decide that.
#include <algorithm>
#include <array>

#include "base/digest.h"
#include "requirements/probe.h"
#include "sys/site_packages.h"

namespace dsbuild {
namespace {

// Those of a Python that was asked for come first: the headers of a package are of its version.
std::vector<Path> packages_of(const ProbeInput& input) {
  const Setting<std::string>& python = input.settings.python;
  std::vector<Path> folders;
  if (!python.is_default()) folders = site_packages_of(input.system, python.value);
  for (const Path& packages : find_site_packages(input.system, python.value))
    if (std::ranges::find(folders, packages) == folders.end()) folders.push_back(packages);
  return folders;
}

// Which folder it is cannot be told from where the program lies: that may be a script, as pyenv's are.
Result<Path> prefix_of(const ProbeInput& input) {
  if (input.torch && !input.torch->python.prefix.empty()) return input.torch->python.prefix;
  const Interpreter interpreter = interpreter_of(input);
  DSBUILD_TRY(python, find_python(interpreter));
  if (python.prefix.is_absolute()) return python.prefix;
  return fail(Exit::unmet, "python", interpreter.program,
              interpreter.program + " does not say its sys.prefix");
}

// What the folder may be below, in order.
Result<std::vector<Path>> bases_of(const ProbeInput& input) {
  if (input.requirement.in == k_in_packages) return packages_of(input);
  if (input.requirement.in == k_in_python)
    return prefix_of(input).map([](const Path& prefix) { return std::vector<Path>{prefix}; });
  return std::vector<Path>{"/"};
}

std::pair<std::string, Path> root_of(const ProbeInput& input, const Path& base) {
  const std::string& folder = subject_of(input);
  const std::string first = folder.substr(0, folder.find('/'));
  if (input.requirement.in == k_in_packages) return {first, base / first};
  if (input.requirement.in == k_in_python) return {"python_prefix", base};
  return {"folder_" + sha256(folder).substr(0, 8), folder};
}

// The compiler looks there by itself, and last: with -isystem they would come before the C++ library's own
// folders, whose #include_next of C's headers then finds nothing.
bool is_compilers_own(const FileReader& files, const Path& folder) {
  static constexpr std::array<const char*, 2> k_own = {"/usr/include", "/usr/local/include"};
  const auto real = files.real_path(folder);
  return std::ranges::any_of(k_own, [&](const char* own) { return real && real == files.real_path(own); });
}

Finding found_folder(const ProbeInput& input, const Path& base) {
  const Path folder = base / subject_of(input);
  Finding finding = met(input, folder.string());
  if (is_compilers_own(input.system.files, folder)) return finding;
  const std::string& language = input.requirement.language;
  auto& folders = language == k_for_cxx    ? finding.usage.cxx_include_dirs
                  : language == k_for_nvcc ? finding.usage.device_include_dirs
                                           : finding.usage.include_dirs;
  folders = {folder.string()};
  const auto [name, root] = root_of(input, base);
  finding.usage.roots = {{name, root.string()}};
  return finding;
}

std::string not_found(const ProbeInput& input, const std::vector<Path>& bases) {
  const std::string what = "not found: no folder " + subject_of(input);
  if (input.requirement.in.empty()) return what;
  if (bases.empty()) return what + ": this Python has no folder of packages";
  return what + " in " + join({bases.begin(), bases.end()}, ", ");
}

}  // namespace

Finding probe_folder(const ProbeInput& input) {
  const Result<std::vector<Path>> bases = bases_of(input);
  if (!bases) return unmet(input, bases.error().what);
  const FileReader& files = input.system.files;
  for (const Path& each : *bases) {
    const Path base = files.absolute(each);
    if (files.kind(base / subject_of(input)) == FileKind::directory) return found_folder(input, base);
  }
  return unmet(input, not_found(input, *bases));
}

}  // namespace dsbuild
