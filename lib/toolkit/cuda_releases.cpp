#include "toolkit/cuda_releases.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"

namespace dsbuild {
namespace {

// A part of a toolkit, and the packages that bring it.
struct PartRow {
  const char* name;   // a file of it, as messages have it
  const char* pip;    // NVIDIA's on PyPI; a part with the same package as another one is named with it once
  const char* conda;  // conda-forge's for x86_64: what runs elsewhere too has the platform in its name
};
constexpr PartRow k_nvcc = {"bin/nvcc", "nvidia-cuda-nvcc", "cuda-nvcc-tools"},
                  k_ptxas = {"bin/ptxas", "nvidia-cuda-nvcc", "cuda-nvcc-tools"},
                  k_cicc = {"nvvm/bin/cicc", "nvidia-nvvm", "cuda-nvvm-tools"},
                  k_headers = {"cuda_runtime_api.h", "nvidia-cuda-runtime", "cuda-cudart-dev_linux-64"},
                  k_crt = {"crt/host_config.h", "nvidia-cuda-crt", "cuda-crt-dev_linux-64"};

struct Part {
  PartRow row;
  Version release;  // 13.0
};

Version release_of(const Version& version) {
  return version.empty() ? version : Version{{version.major(), version.minor()}};
}

// "release 13.0, V13.0.88" somewhere in the program, as it prints for --version and writes into PTX.
Version release_in_program(const std::string& bytes) {
  constexpr std::string_view k_before = "release ";
  for (size_t at = bytes.find(k_before); at != std::string::npos; at = bytes.find(k_before, at + 1)) {
    const std::string_view rest = std::string_view(bytes).substr(at + k_before.size(), 32);
    const auto version = parse_version(rest.substr(0, rest.find(',')));
    if (version && rest.starts_with(version->text() + ", V" + version->text() + ".")) return *version;
  }
  return {};
}

// "#define CUDART_VERSION  13000"
Version release_in_header(const std::string& text) {
  constexpr std::string_view k_define = "#define CUDART_VERSION";
  const size_t at = text.find(k_define);
  if (at == std::string::npos) return {};
  const auto code = parse_version(trim(text.substr(at + k_define.size(), 16)));
  return code ? Version{{code->major() / 1000, code->major() % 1000 / 10}} : Version{};
}

// Remembered for as long as the file is the same.
Version release_in_file(const Path& file, Version (*release_in)(const std::string&), const FileReader& files,
                        FactStore& facts) {
  if (files.kind(file) != FileKind::file) return {};
  const std::string key = "release of CUDA in " + file.string();
  const FactBasis basis{.files = {file}};
  auto known = facts.find(key, basis);
  if (!known) {
    const auto bytes = files.read_file(file);
    if (!bytes) return {};
    known = release_in(*bytes).text();
    facts.put(key, basis, *known);
  }
  return parse_version(*known).value_or(Version{});
}

enum class Packages { none, pip, conda };

// Where a package manager writes down what it has installed into the toolkit's folder.
std::pair<Packages, Path> packages_of(const Path& home, const FileReader& files) {
  if (files.kind(home / "conda-meta") == FileKind::directory) return {Packages::conda, home / "conda-meta"};
  if (home.parent_path().filename() == "nvidia") return {Packages::pip, home.parent_path().parent_path()};
  return {Packages::none, {}};
}

// Of "nvidia_cuda_crt-13.0.88.dist-info", "cuda-crt-tools-13.0.88-ha770c72_0.json".
Version release_of_package(const PartRow& row, const Path& home, const FileReader& files) {
  const auto [manager, folder] = packages_of(home, files);
  if (manager == Packages::none) return {};
  const std::string start =
      manager == Packages::pip ? replace_all(row.pip, "-", "_") + "-" : std::string(row.conda) + "-";
  const auto names = files.list(folder);
  for (const std::string& name : names ? *names : std::vector<std::string>{})
    if (const auto version =
            name.starts_with(start) ? parse_version(name.substr(start.size())) : std::nullopt)
      return release_of(*version);
  return {};
}

// That of most parts, of equals that of the headers. Beside torch, which asks for the headers' package in one
// release, it is theirs.
Version release_to_have(const std::vector<Part>& parts, bool is_torch_there) {
  const auto weight = [&](const Part& part) {
    const bool is_of_headers = part.row.name == k_headers.name;
    const auto alike = std::ranges::count(parts, part.release, &Part::release);
    return std::pair(is_torch_there && is_of_headers ? parts.size() : static_cast<size_t>(alike),
                     is_of_headers);
  };
  return std::ranges::max_element(parts, {}, weight)->release;
}

std::string what_installs(const std::vector<PartRow>& rows, const Version& release, Packages manager) {
  if (manager == Packages::none) return "install one release of CUDA whole";
  if (manager == Packages::conda) return "conda install cuda-nvcc cuda-version=" + release.text();
  std::vector<std::string> pins;
  for (const PartRow& row : rows)
    if (const std::string pin = std::string("'") + row.pip + "==" + release.text() + ".*'";
        std::ranges::find(pins, pin) == pins.end())
      pins.push_back(pin);
  return "pip install " + join(pins, " ");
}

std::string text_of_mix(const std::vector<Part>& parts, const Path& home, const FileReader& files) {
  const auto [manager, folder] = packages_of(home, files);
  const bool is_torch_there = manager == Packages::pip && files.kind(folder / "torch") == FileKind::directory;
  const Version release = release_to_have(parts, is_torch_there);
  std::vector<std::string> said;
  std::vector<PartRow> others;
  for (const Part& part : parts) {
    said.push_back(std::string(part.row.name) + " " + part.release.text());
    if (part.release != release) others.push_back(part.row);
  }
  return "its parts are of different releases: " + join(said, ", ") + "; " +
         what_installs(others, release, manager);
}

// Of a folder that packages make, whose parts one may install without the others.
std::string text_of_missing(const Toolkit& toolkit, const FileReader& files) {
  const Packages manager = packages_of(toolkit.home, files).first;
  if (manager == Packages::none) return "";
  std::vector<PartRow> missing;
  std::vector<std::string> names;
  for (const auto& [row, folder] :
       {std::pair(k_cicc, toolkit.home), std::pair(k_headers, toolkit.include_dir()),
        std::pair(k_crt, toolkit.include_dir())}) {
    if (files.kind(folder / row.name) == FileKind::file) continue;
    missing.push_back(row);
    names.emplace_back(row.name);
  }
  if (missing.empty()) return "";
  return "it has no " + join(names, ", no ") + "; " +
         what_installs(missing, release_of(toolkit.version), manager);
}

}  // namespace

std::string why_no_whole_release(const Toolkit& toolkit, const FileReader& files, FactStore& facts) {
  const Path& home = toolkit.home;
  if (const std::string missing = text_of_missing(toolkit, files); !missing.empty()) return missing;
  std::vector<Part> parts = {
      {k_nvcc, release_of(toolkit.version)},
      {k_ptxas, release_in_file(home / k_ptxas.name, release_in_program, files, facts)},
      {k_cicc, release_in_file(home / k_cicc.name, release_in_program, files, facts)},
      {k_headers, release_in_file(toolkit.include_dir() / k_headers.name, release_in_header, files, facts)},
      {k_crt, release_of_package(k_crt, home, files)}};
  std::erase_if(parts, [](const Part& part) { return part.release.empty(); });
  const bool is_one =
      std::ranges::all_of(parts, [&](const Part& part) { return part.release == parts.front().release; });
  return is_one ? "" : text_of_mix(parts, home, files);
}

}  // namespace dsbuild
