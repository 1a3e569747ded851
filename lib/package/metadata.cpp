#include "package/metadata.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

// A manifest may be anyone's: none of its words begins a line of its own.
std::string one_line(const std::string& text) {
  std::string line = printable(text);
  std::ranges::replace_if(line, [](unsigned char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

std::string header(const std::string& name, const std::string& value) {
  return value.empty() ? "" : name + ": " + one_line(value) + "\n";
}

std::string cell(const std::string& text) {
  return replace_all(one_line(text), "|", "\\|");
}

std::string runs_on(const ManifestOp& op) {
  if (!op.archs.empty()) return to_upper(op.backend) + " " + arch_text(op.archs);
  return op.cpu_baseline ? "CPU, " + op.cpu_baseline->level : "CPU";
}

std::string summary(const Package& package) {
  return plural(package.ops.size(), "op") + " of " + package.pack + ", built ahead of time by dsbuild";
}

}  // namespace

std::string describe_package(const Package& package, const Manifest& manifest) {
  std::string text = "# " + package.pip_name() + "\n\n" + summary(package) + " " + manifest.dsbuild +
                     " for " + one_line(package.runs_with) +
                     ". Nothing is compiled where they are loaded.\n\n" + "| op | runs on |\n| --- | --- |\n";
  for (const ManifestOp& op : manifest.ops)
    if (std::ranges::count(package.ops, op.name) > 0)
      text += "| " + cell(op.name) + " | " + cell(runs_on(op)) + " |\n";
  if (!package.outside.empty())
    text += "\nNeeded, and not in the wheel: " + one_line(join(package.outside, ", ")) + ".\n";
  return text;
}

std::string render_metadata(const Package& package) {
  std::string text = header("Metadata-Version", "2.4") + header("Name", package.pip_name()) +
                     header("Version", package.version) + header("Summary", summary(package)) +
                     header("Description-Content-Type", package.description_type) +
                     header("License-Expression", package.license);
  for (const PackageFile& file : package.info_files)
    if (file.path.starts_with(k_license_folder))
      text += header("License-File", file.path.substr(std::string_view(k_license_folder).size()));
  for (const auto& [label, url] : package.urls)
    text += header("Project-URL", label + ", " + url);
  text += header("Requires-Python", package.requires_python);
  for (const std::string& requirement : package.requirements)
    text += header("Requires-Dist", requirement);
  return text + "\n" + package.description;
}

}  // namespace dsbuild
