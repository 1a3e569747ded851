#include "load/jit_folder.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/digest.h"
#include "settings/options.h"
#include "sys/node_disk.h"

namespace dsbuild {
namespace {

// Of one node: a folder of an earlier version, or one named by hand, may be seen by several.
std::string node_of(const FileReader& files) {
  const auto read = [&](const char* file) { return trim(files.read_file(file).value_or("")); };
  return read("/proc/sys/kernel/hostname") + read("/etc/machine-id");
}

// By what two builds of one op differ, so that programs that ask for other things do not undo each other's
// work. What is missing here shares a folder, and is made anew there.
bool counts(const std::string& setting) {
  static const std::set<std::string> k_names = {
      "source", "cuda_home",    "rocm_home", "oneapi_home", "compress_mode",      "backend",
      "python", "cpu_baseline", "debug",     "accelerator", "nvcc_prepend_flags", "nvcc_append_flags",
      "cflags", "ldflags"};
  return k_names.count(setting) > 0;
}

// The archs that are asked for, else those of the GPUs.
std::string archs_text(const LoadRequest& request) {
  const ArchRequest& asked = request.request.settings.arch.value;
  if (!asked.is_default) return "asked for " + arch_list(asked.targets);
  std::string text = "of GPUs";
  for (const Target& gpu : request.machine.gpus.archs)
    text += " " + gpu.text();
  return text;
}

std::string digest_of(const LoadRequest& request, const FileReader& files) {
  const Settings& settings = request.request.settings;
  std::string text = node_of(files) + "\n" + request.op;
  for (const SettingRow& row : setting_rows(settings))
    if (counts(row.name)) text += "\n" + row.name + "=" + row.value;
  text += "\n" + archs_text(request) + "\n" + files.absolute(settings.pack.value).string();
  return sha256(text).substr(0, 16);
}

// They say what is looked at and noted, and no build comes out otherwise for them.
bool is_for_load_alone(const std::string& setting) {
  return setting == "bundle" || setting == "jit" || setting == "record";
}

std::string asked_by(const LoadRequest& request) {
  const Settings& settings = request.request.settings;
  std::string text = "load " + request.op + "\n" + settings.data_dir.string() + "\n" + archs_text(request);
  for (const SettingRow& row : setting_rows(settings))
    if (!is_for_load_alone(row.name)) text += "\n" + row.name + "=" + row.value;
  return text;
}

Result<Path> jit_root(const Settings& settings, const FileReader& files) {
  const std::string extensions = settings.variable("TORCH_EXTENSIONS_DIR");
  Path root = files.absolute(extensions.empty() ? settings.cache_dir / "jit" : Path(extensions) / "dsbuild");
  if (is_on_own_disk(root)) return root;
  DSBUILD_TRY(own, make_own_folder({"/tmp", "/var/tmp"}));
  return own / "jit";
}

// An op that nobody knows may be called anything.
std::string folder_name(const std::string& op) {
  const bool is_plain = std::all_of(
      op.begin(), op.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  return is_plain ? op : "op";
}

}  // namespace

Environment without_launchers(const Environment& environment) {
  static const std::set<std::string> k_names = {"RANK",
                                                "LOCAL_RANK",
                                                "GROUP_RANK",
                                                "ROLE_RANK",
                                                "NODE_RANK",
                                                "CROSS_RANK",
                                                "WORLD_SIZE",
                                                "LOCAL_WORLD_SIZE",
                                                "GROUP_WORLD_SIZE",
                                                "ROLE_WORLD_SIZE",
                                                "CROSS_SIZE",
                                                "LOCAL_SIZE",
                                                "MASTER_ADDR",
                                                "MASTER_PORT",
                                                "CUDA_VISIBLE_DEVICES",
                                                "HIP_VISIBLE_DEVICES",
                                                "ROCR_VISIBLE_DEVICES",
                                                "ZE_AFFINITY_MASK",
                                                "ROLE_NAME",
                                                "TERM",
                                                "COLUMNS",
                                                "LINES",
                                                "PYTEST_CURRENT_TEST",
                                                "INVOCATION_ID",
                                                "JOURNAL_STREAM",
                                                "OMP_NUM_THREADS",
                                                "DSBUILD_BUNDLE",
                                                "DSBUILD_JIT",
                                                "DSBUILD_RECORD"};
  static constexpr std::array k_beginnings = {"TORCHELASTIC_", "OMPI_", "PMI_",        "PMIX_",  "PRTE_",
                                              "SLURM_",        "PALS_", "FLUX_",       "HYDRA_", "HYDI_",
                                              "MPI_",          "SSH_",  "XDG_SESSION_"};
  Environment kept;
  for (const auto& [name, value] : environment) {
    const bool is_launchers =
        std::any_of(k_beginnings.begin(), k_beginnings.end(),
                    [&name = name](const char* begin) { return name.starts_with(begin); });
    if (!is_launchers && k_names.count(name) == 0) kept.emplace(name, value);
  }
  return kept;
}

Result<JitFolder> jit_folder(const LoadRequest& request, const System& system) {
  DSBUILD_TRY(root, jit_root(request.request.settings, system.files));
  return JitFolder{root / (folder_name(request.op) + "-" + digest_of(request, system.files)),
                   asked_by(request)};
}

}  // namespace dsbuild
