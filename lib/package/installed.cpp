#include "package/installed.h"

#include <algorithm>
#include <map>
#include <regex>

#include "base/text.h"
#include "base/version.h"
#include "bundle/bundle.h"
#include "package/installed_ops.h"

namespace dsbuild {
namespace {

// name = value lines of a Python file that a program wrote.
std::map<std::string, std::string> assignments(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const std::string& line : split_lines(text)) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) values[trim(line.substr(0, equals))] = trim(line.substr(equals + 1));
  }
  return values;
}

std::string unquoted(const std::string& literal) {
  const bool quoted =
      literal.size() > 1 && (literal[0] == '"' || literal[0] == '\'') && literal.back() == literal[0];
  return quoted ? literal.substr(1, literal.size() - 2) : literal;
}

// Of a Python dict of names and plain values.
std::map<std::string, std::string> members(const std::string& dict) {
  static const std::regex member(R"(['"]([^'"]*)['"]\s*:\s*('[^']*'|"[^"]*"|[^,}\s]+))");
  std::map<std::string, std::string> values;
  for (std::sregex_iterator at(dict.begin(), dict.end(), member), end; at != end; ++at)
    values[(*at)[1].str()] = unquoted((*at)[2].str());
  return values;
}

bool is_true(const std::string& value) {
  return value != "False" && value != "None" && value != "0" && !value.empty();
}

void read_record(const std::string& text, InstalledDeepSpeed& deepspeed) {
  auto values = assignments(text);
  deepspeed.version = trim(unquoted(values["version"]));
  deepspeed.accelerator = unquoted(values["accelerator_name"]);
  for (const auto& [op, value] : members(values["installed_ops"]))
    if (is_true(value)) deepspeed.ops.push_back(op);
  auto torch = members(values["torch_info"]);
  deepspeed.torch = torch["version"];
  deepspeed.cuda = torch["cuda_version"];
}

// "deepspeed-0.19.8.dist-info" beside the package; version.txt in a source tree.
std::string version_beside(const Path& folder, const FileReader& files) {
  for (const std::string& name : files.list(folder).value_or(std::vector<std::string>{})) {
    const bool fits =
        name.starts_with("deepspeed-") && (name.ends_with(".dist-info") || name.ends_with(".egg-info"));
    if (const auto version = fits ? parse_version(name.substr(10)) : std::nullopt) return version->text();
  }
  const auto version = parse_version(trim(files.read_file(folder / "version.txt").value_or("")));
  return version ? version->text() : "";
}

}  // namespace

std::vector<InstalledWheel> find_installed_wheels(const std::vector<Path>& site_packages,
                                                  const FileReader& files) {
  std::vector<InstalledWheel> wheels;
  for (const Path& folder : site_packages) {
    for (const std::string& name : files.list(folder).value_or(std::vector<std::string>{})) {
      const bool known = std::ranges::count(wheels, name, &InstalledWheel::name) > 0;
      if (known || !name.starts_with("dsbuild_") || !name.ends_with("_ops")) continue;
      auto manifest = load_manifest(folder / name, files);
      if (manifest) wheels.push_back({name, folder / name, std::move(*manifest)});
    }
  }
  return wheels;
}

std::optional<InstalledDeepSpeed> find_installed_deepspeed(const std::vector<Path>& folders,
                                                           const FileReader& files) {
  for (const Path& folder : folders) {
    if (files.kind(folder / "deepspeed" / "__init__.py") != FileKind::file) continue;
    InstalledDeepSpeed deepspeed;
    deepspeed.folder = folder / "deepspeed";
    if (const auto record = files.read_file(folder / k_installed_ops_path)) read_record(*record, deepspeed);
    if (deepspeed.version.empty()) deepspeed.version = version_beside(folder, files);
    return deepspeed;
  }
  return std::nullopt;
}

}  // namespace dsbuild
