// {cutlass: ">=3.1"}: CUTLASS's headers, looked for where DeepSpeed looks. CUTLASS_PATH is one place, or one
// of two words: DS_IGNORE_CUTLASS_DETECTION (the compiler finds the headers by itself) and
// DS_USE_CUTLASS_PYTHON_BINDINGS (the Python package nvidia-cutlass).
#include "requirements/probe.h"
#include "sys/site_packages.h"

namespace dsbuild {
namespace {

void add(std::vector<Path>& to, const std::vector<Path>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// nvidia-cutlass is imported as cutlass_library and has the headers in `source`.
std::vector<Path> package_places(const ProbeInput& input) {
  std::vector<Path> places;
  for (const Path& packages : find_site_packages(input.system, input.settings.python.value))
    add(places, {packages / "cutlass_library" / "source", packages, packages / "cutlass_library"});
  return places;
}

std::vector<Path> variable_places(const ProbeInput& input, const std::vector<const char*>& names) {
  std::vector<Path> places;
  for (const char* name : names)
    for (const std::string& place : split(input.settings.variable(name), ":"))
      places.push_back(input.system.files.absolute(place));
  return places;
}

// <prefix>/lib/python3.11/site-packages -> <prefix>
std::vector<Path> python_prefixes(const ProbeInput& input) {
  std::vector<Path> places;
  for (const Path& packages : find_site_packages(input.system, input.settings.python.value))
    places.push_back(packages.parent_path().parent_path().parent_path());
  return places;
}

std::vector<Path> all_places(const ProbeInput& input) {
  std::vector<Path> places = package_places(input);
  add(places, variable_places(input, {"CUTLASS_ROOT", "CUTLASS_HOME", "CONDA_PREFIX", "VIRTUAL_ENV",
                                      "CMAKE_PREFIX_PATH", "CUDA_HOME", "CUDA_PATH"}));
  add(places, python_prefixes(input));
  add(places, variable_places(input, {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"}));
  add(places, {input.system.files.absolute("cutlass"), input.source_root / "cutlass",
               input.source_root.parent_path() / "cutlass", "/usr/local/cutlass", "/opt/cutlass",
               "/usr/local", "/usr"});
  return places;
}

// A checkout has include/ and tools/util/include/; an installation has the headers alone.
std::vector<Path> include_dirs_at(const FileReader& files, const Path& place) {
  const auto has_headers = [&](const Path& dir) {
    return files.kind(dir / "cutlass" / "cutlass.h") == FileKind::file;
  };
  const bool is_checkout = has_headers(place / "include");
  if (!is_checkout && !has_headers(place)) return {};
  std::vector<Path> dirs = {is_checkout ? place / "include" : place};
  const Path util = (is_checkout ? place : place.parent_path()) / "tools" / "util" / "include";
  if (files.kind(util) == FileKind::directory) dirs.push_back(util);
  return dirs;
}

Version header_version(const FileReader& files, const Path& include_dir) {
  const Result<std::string> header = files.read_file(include_dir / "cutlass" / "version.h");
  if (!header) return {};
  const std::string text = macro_value(*header, "CUTLASS_MAJOR") + "." +
                           macro_value(*header, "CUTLASS_MINOR") + "." +
                           macro_value(*header, "CUTLASS_PATCH");
  return parse_version(text).value_or(Version{});
}

// What holds both folders of headers, or the headers' own folder.
Path place_of(const std::vector<Path>& dirs) {
  const Path& headers = dirs.front();
  return headers.filename() == "include" ? headers.parent_path() : headers;
}

Finding judge(const ProbeInput& input, const std::vector<Path>& dirs) {
  const Version version = header_version(input.system.files, dirs.front());
  const std::string what =
      "CUTLASS " + (version.empty() ? "of unknown version" : version.text()) + " in " + dirs.front().string();
  if (!input.requirement.range.contains(version))
    return unmet(input, what + " is not " + input.requirement.range.text);
  Finding finding = met(input, what);
  for (const Path& dir : dirs)
    finding.usage.include_dirs.push_back(dir.string());
  finding.usage.roots = {{"cutlass", place_of(dirs).string()}};
  return finding;
}

// The first place that has the headers decides.
Finding look(const ProbeInput& input, const std::vector<Path>& places, const std::string& if_nowhere) {
  for (const Path& place : places) {
    const std::vector<Path> dirs = include_dirs_at(input.system.files, place);
    if (!dirs.empty()) return judge(input, dirs);
  }
  return unmet(input, if_nowhere);
}

}  // namespace

Finding probe_cutlass(const ProbeInput& input) {
  const std::string demanded = input.settings.variable("CUTLASS_PATH");
  if (demanded.empty()) return look(input, all_places(input), "no CUTLASS headers (cutlass/cutlass.h)");
  if (demanded == "DS_IGNORE_CUTLASS_DETECTION") return met(input, "not looked for: CUTLASS_PATH says so");
  if (demanded == "DS_USE_CUTLASS_PYTHON_BINDINGS")
    return look(input, package_places(input), "CUTLASS_PATH: no Python package nvidia-cutlass");
  return look(input, {input.system.files.absolute(demanded)},
              "CUTLASS_PATH: no CUTLASS headers in " + printable(demanded));
}

}  // namespace dsbuild
