#include "toolkit/candidates.h"

#include <functional>
#include <map>

#include "base/text.h"
#include "base/version.h"

namespace dsbuild {
namespace {

class Search {
 public:
  Search(const Settings& settings, const System& system) : settings_(settings), system_(system) {}

  std::vector<ToolkitCandidate> run() {
    add_named();
    add_from_path();
    add_system();
    const std::string conda = variable("CONDA_PREFIX");
    if (!conda.empty()) add(conda, "conda");
    add_pip();
    add_cache();
    return std::move(candidates_);
  }

 private:
  void add(const Path& home, const std::string& origin, bool named = false) {
    candidates_.push_back({home, origin, named});
  }

  std::string variable(const std::string& name) const {
    const auto found = system_.environment.find(name);
    return found == system_.environment.end() ? "" : found->second;
  }

  // Names in `folder` that start with `prefix`, the highest version after it first.
  std::vector<std::string> newest_first(const Path& folder, const std::string& prefix) const {
    std::multimap<Version, std::string, std::greater<>> found;
    const auto names = system_.files.list(folder);
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
      if (name.compare(0, prefix.size(), prefix) != 0) continue;
      const auto version = parse_version(std::string_view(name).substr(prefix.size()));
      if (version) found.emplace(*version, name);
    }
    std::vector<std::string> sorted;
    for (const auto& [version, name] : found)
      sorted.push_back(name);
    return sorted;
  }

  void add_named() {
    if (!settings_.cuda_home.value.empty()) add(settings_.cuda_home.value, "--cuda-home", true);
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
      if (const std::string home = variable(name); !home.empty()) add(home, name, true);
    }
  }

  // bin/nvcc may be a link from elsewhere into the toolkit.
  void add_from_path() {
    const auto nvcc = find_program(system_.files, "nvcc", variable("PATH"));
    const auto real = nvcc ? system_.files.real_path(*nvcc) : std::nullopt;
    if (real) add(real->parent_path().parent_path(), "PATH");
  }

  void add_system() {
    const Path local = "/usr/local";
    add(local / "cuda", local.string());
    for (const std::string& name : newest_first(local, "cuda-"))
      add(local / name, local.string());
    // Debian spreads a toolkit over /usr, with nvcc's own files in this folder.
    const Path debian = "/usr/lib/nvidia-cuda-toolkit";
    if (system_.files.kind(debian) != FileKind::directory) return;
    add("/usr", "Debian");
    add(debian, "Debian");
  }

  // <prefix>/lib/python3.11/site-packages and its kin.
  std::vector<Path> package_folders(const Path& prefix) const {
    std::vector<Path> folders;
    for (const char* lib : {"lib", "lib64"}) {
      for (const std::string& python : newest_first(prefix / lib, "python")) {
        folders.push_back(prefix / lib / python / "site-packages");
        folders.push_back(prefix / lib / python / "dist-packages");
      }
    }
    return folders;
  }

  // A virtual environment's python3 is a link out of it: both ends have packages.
  std::vector<Path> python_prefixes() const {
    std::vector<Path> prefixes;
    if (const std::string venv = variable("VIRTUAL_ENV"); !venv.empty()) prefixes.emplace_back(venv);
    const auto python = find_program(system_.files, "python3", variable("PATH"));
    if (!python) return prefixes;
    prefixes.push_back(python->parent_path().parent_path());
    const auto real = system_.files.real_path(*python);
    if (real) prefixes.push_back(real->parent_path().parent_path());
    // Debian's python3 in /usr also imports what pip put into /usr/local.
    if (prefixes.back() == "/usr") prefixes.emplace_back("/usr/local");
    if (const std::string home = variable("HOME"); !home.empty()) prefixes.push_back(Path(home) / ".local");
    return prefixes;
  }

  void add_nvidia_folders(const Path& parent, const std::string& origin) {
    for (const std::string& name : newest_first(parent / "nvidia", "cu"))
      add(parent / "nvidia" / name, origin);
  }

  void add_pip() {
    for (const Path& prefix : python_prefixes()) {
      for (const Path& packages : package_folders(prefix))
        add_nvidia_folders(packages, "pip");
    }
  }

  void add_cache() {
    const Path cache = settings_.cache_dir / "toolkits";
    for (const std::string& version : newest_first(cache, "")) {
      add(cache / version, "dsbuild");
      add_nvidia_folders(cache / version, "dsbuild");
    }
  }

  const Settings& settings_;
  const System& system_;
  std::vector<ToolkitCandidate> candidates_;
};

}  // namespace

std::vector<ToolkitCandidate> toolkit_candidates(const Settings& settings, const System& system) {
  return Search(settings, system).run();
}

}  // namespace dsbuild
