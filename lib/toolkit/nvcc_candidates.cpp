#include "sys/site_packages.h"
#include "toolkit/nvcc_family.h"

namespace dsbuild {
namespace {

class Search {
 public:
  Search(const Settings& settings, const System& system) : settings_(settings), system_(system) {}

  std::vector<ToolkitCandidate> run() {
    add_from_path();
    add_system();
    const std::string conda = settings_.variable("CONDA_PREFIX");
    if (!conda.empty()) add(conda, "conda");
    add_pip();
    add_cache();
    return std::move(candidates_);
  }

 private:
  void add(const Path& home, const std::string& origin) { candidates_.push_back({home, origin}); }

  // bin/nvcc may be a link from elsewhere into the toolkit.
  void add_from_path() {
    const auto nvcc = find_program(system_, "nvcc");
    const auto real = nvcc ? system_.files.real_path(*nvcc) : std::nullopt;
    if (real) add(real->parent_path().parent_path(), "PATH");
  }

  void add_system() {
    const Path local = "/usr/local";
    add(local / "cuda", local.string());
    for (const std::string& name : by_version(system_.files, local, "cuda-"))
      add(local / name, local.string());
    // Debian spreads a toolkit over /usr, with nvcc's own files in this folder.
    const Path debian = "/usr/lib/nvidia-cuda-toolkit";
    if (system_.files.kind(debian) != FileKind::directory) return;
    add("/usr", "Debian");
    add(debian, "Debian");
  }

  void add_nvidia_folders(const Path& parent, const std::string& origin) {
    for (const std::string& name : by_version(system_.files, parent / "nvidia", "cu"))
      add(parent / "nvidia" / name, origin);
  }

  void add_pip() {
    for (const Path& packages : find_site_packages(system_, settings_.python.value))
      add_nvidia_folders(packages, "pip");
  }

  void add_cache() {
    const Path cache = settings_.cache_dir / "toolkits";
    for (const std::string& version : by_version(system_.files, cache, "")) {
      add(cache / version, "dsbuild");
      add_nvidia_folders(cache / version, "dsbuild");
    }
  }

  const Settings& settings_;
  const System& system_;
  std::vector<ToolkitCandidate> candidates_;
};

}  // namespace

std::vector<ToolkitCandidate> nvcc_candidates(const Settings& settings, const System& system) {
  return Search(settings, system).run();
}

}  // namespace dsbuild
