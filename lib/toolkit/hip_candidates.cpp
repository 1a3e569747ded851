#include "sys/site_packages.h"
#include "toolkit/hip_family.h"

namespace dsbuild {

std::vector<ToolkitCandidate> hip_candidates(const Settings& settings, const System& system) {
  const FileReader& files = system.files;
  std::vector<ToolkitCandidate> found;
  // hipcc is a script that starts the clang of its own tree.
  const auto hipcc = find_program(system, "hipcc");
  const auto real = hipcc ? files.real_path(*hipcc) : std::nullopt;
  if (real) found.push_back({real->parent_path().parent_path(), "PATH"});
  const Path opt = "/opt";
  found.push_back({opt / "rocm", opt.string()});
  for (const std::string& name : by_version(files, opt, "rocm-"))
    found.push_back({opt / name, opt.string()});
  for (const Path& packages : find_site_packages(system, settings.python.value))
    for (const char* name : {"_rocm_sdk_devel", "_rocm_sdk_core"})
      found.push_back({packages / name, "pip"});
  found.push_back({"/usr", "Debian"});
  const Path cache = settings.cache_dir / "toolkits";
  for (const std::string& name : by_version(files, cache, "hip-"))
    found.push_back({cache / name, "dsbuild"});
  return found;
}

std::vector<std::string> hip_compilers(const Path& home, const FileReader& files) {
  if (files.kind(home / "include/hip/hip_runtime.h") != FileKind::file) return {};
  std::vector<std::string> folders = {"llvm", "lib/llvm"};
  for (const std::string& name : by_version(files, home / "lib", "llvm-"))
    folders.push_back("lib/" + name);
  std::vector<std::string> found;
  for (const std::string& folder : folders)
    if (const std::string compiler = folder + "/bin/clang++"; files.kind(home / compiler) == FileKind::file)
      found.push_back(compiler);
  return found;
}

}  // namespace dsbuild
