#include "requirements/rocm.h"

#include <algorithm>

#include "arch/amd.h"
#include "requirements/probe.h"

namespace dsbuild {
namespace {

Version major_and_minor(Version version) {
  version.parts.resize(std::min<size_t>(version.parts.size(), 2));
  return version;
}

std::string text_of(const FileReader& files, const Path& file) {
  const Result<std::string> text = files.read_file(file);
  return text ? printable(*text) : "";
}

// "2.8.0+rocm6.3" -> 6.3
Version version_behind(const std::string& word, const std::string& text) {
  const size_t at = text.find(word);
  if (at == std::string::npos) return {};
  return parse_version(text.substr(at + word.size())).value_or(Version{});
}

Version version_in_header(const std::string& header) {
  return parse_version(macro_value(header, "ROCM_VERSION_MAJOR") + "." +
                       macro_value(header, "ROCM_VERSION_MINOR"))
      .value_or(Version{});
}

// Of all AMD targets, each once.
std::set<int> wave_sizes(const ArchSet& archs) {
  std::set<int> sizes;
  for (const Target& target : targets_of(archs, amd()))
    sizes.insert(amd_wave_size(target));
  return sizes;
}

}  // namespace

Version find_rocm_version(const Toolkit& toolkit, const std::optional<Torch>& torch,
                          const FileReader& files) {
  for (const char* name : {".info/version", ".info/version-dev"})
    if (const auto version = parse_version(trim(text_of(files, toolkit.home / name))))
      return major_and_minor(*version);
  if (const Version version = version_behind("rocm", torch ? torch->version : ""); !version.empty())
    return major_and_minor(version);
  for (const char* name : {"include/rocm-core/rocm_version.h", "include/rocm_version.h"})
    if (const Version version = version_in_header(text_of(files, toolkit.home / name)); !version.empty())
      return version;
  return major_and_minor(toolkit.headers);
}

int common_wave_size(const ArchSet& archs) {
  const std::set<int> sizes = wave_sizes(archs);
  return sizes.size() == 1 ? *sizes.begin() : 0;
}

// The host's code, which is one for all targets, works with the number that device code has.
Finding probe_wavefront(const ProbeInput& input) {
  const std::set<int> sizes = wave_sizes(input.archs);
  if (sizes.size() < 2) return met(input, "wavefronts have one size");
  std::vector<std::string> parts;
  for (const int size : sizes) {
    ArchSet same;
    for (const Target& target : targets_of(input.archs, amd()))
      if (amd_wave_size(target) == size) same.insert(target);
    parts.push_back(arch_text(same) + (same.size() > 1 ? " have " : " has ") + std::to_string(size));
  }
  return unmet(input,
               "its host code is compiled for one size of wavefronts: " + join(parts, ", ") + " lanes");
}

}  // namespace dsbuild
