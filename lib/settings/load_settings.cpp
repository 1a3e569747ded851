#include <algorithm>

#include "base/build_layout.h"
#include "base/digest.h"
#include "settings/options.h"
#include "settings/policy_options.h"
#include "settings/project_file.h"
#include "settings/settings.h"
#include "settings/values.h"
#include "settings/workload.h"

namespace dsbuild {
namespace {

// Set but blank, an arch list counts as unset, and that is worth a line.
bool is_blank_arch_list(const Option& option, const Environment& environment) {
  const auto found = environment.find(option.variable);
  return option.variable == k_arch_variable && found != environment.end() && trim(found->second).empty();
}

MaybeRawSetting variable_of(const Option& option, const Environment& environment) {
  if (option.variable.empty() || is_blank_arch_list(option, environment)) return std::nullopt;
  if (option.read_environment) return option.read_environment(environment);
  return from_variable(environment, option.variable);
}

Result<void> check_known(const Arguments& arguments) {
  for (const auto& [name, value] : arguments.values)
    if (!find_option(name))
      return fail(Exit::usage, "bad_option", name, "there is no such option",
                  "docs/reference/cli.md lists them.");
  return {};
}

// Of what was typed. A variable or a config file may say how to use a shared cache that is named elsewhere.
Result<void> check_needs(const Arguments& arguments, const Settings& settings) {
  const auto is_set = [&](const std::string& name) {
    const Option* option = find_option(name);
    return option->value.show(option->setting, settings).origin != "default";
  };
  for (const auto& [name, value] : arguments.values) {
    const std::vector<std::string>& needs = find_option(name)->needs;
    if (needs.empty() || std::ranges::any_of(needs, is_set)) continue;
    const std::string needed = join(needs, " or ");
    return fail(Exit::usage, "unused_option", name, "it does nothing without " + needed,
                "Add " + needed + ", or leave " + name + " out.");
  }
  return {};
}

Result<std::optional<ProjectFile>> project_of(const Arguments& arguments, const FileReader& files,
                                              const Path& data_dir, std::vector<Warning>& warnings) {
  if (!arguments.reads_project_file || arguments.find("--no-config")) return std::nullopt;
  return load_project_file(files, data_dir, warnings);
}

// What --config says is above what the project says.
Result<ConfigEntries> config_of(const Arguments& arguments, const std::optional<ProjectFile>& project,
                                const FileReader& files, const Path& data_dir) {
  ConfigEntries config;
  if (const auto named = arguments.find("--config")) {
    DSBUILD_TRY(entries, load_config(*named, files, data_dir));
    config = std::move(entries);
  }
  if (project) config.insert(project->entries.begin(), project->entries.end());
  return config;
}

void warn_of_blank_arch_list(std::vector<Warning>& warnings) {
  warnings.push_back(warning("blank_arch_list", k_arch_variable, "it is set but blank, which counts as unset",
                             "Unset it, or give architectures as in 8.0,9.0+PTX."));
}

Result<ConfigEntries> policy_of(const Arguments& arguments, const FileReader& files) {
  const auto file = arguments.find("--policy");
  return file ? load_policy(*file, files) : ConfigEntries{};
}

Result<void> read_options(const Arguments& arguments, const Environment& environment,
                          const ConfigEntries& config, const ConfigEntries& policy, Settings& settings) {
  settings.arch.value.is_default = true;
  DSBUILD_TRY(selection,
              load_selection(from_argument(arguments.find("--ops"), "--ops"), environment, config));
  settings.selection = std::move(selection);
  for (const Option& option : options()) {
    if (!option.value.read) continue;
    const MaybeRawSetting argument = from_argument(arguments.find(option.name()), option.name());
    if (!argument && is_blank_arch_list(option, environment)) warn_of_blank_arch_list(settings.warnings);
    const MaybeRawSetting given =
        first_given({argument, variable_of(option, environment), from_config(config, option.setting),
                     from_config(policy, option.policy)});
    if (given) DSBUILD_CHECK(option.value.read(*given, settings));
  }
  return {};
}

// A project has one bundle and one build folder, from whichever of its folders it is built.
void lie_beside(const ProjectFile& project, Settings& settings) {
  if (project.folder.empty()) return;
  for (Setting<Path>* folder : {&settings.out, &settings.build_dir})
    if (folder->is_default()) *folder = {project.folder / folder->value, project.shown};
}

// DeepSpeed once built this op for one architecture only; its library here holds the kernels of all. And
// names that are nearly that of the list of archs, without which the default archs would be built in silence.
void warn_of_ignored(const Environment& environment, std::vector<Warning>& warnings) {
  const std::string name = "DS_EVOFORMER_GPU_ARCH";
  if (from_variable(environment, name))
    warnings.push_back(
        warning("ignored_variable", name,
                "it is set but not used: evoformer_attn chooses its kernels on the GPU at run time",
                "Unset it; --arch or TORCH_CUDA_ARCH_LIST say what to build for."));
  const std::string start = "TORCH_CUDA_ARCH";
  for (auto at = environment.lower_bound(start); at != environment.end() && at->first.starts_with(start);
       ++at)
    if (at->first != k_arch_variable)
      warnings.push_back(warning("ignored_variable", at->first,
                                 "it is set but not used" + did_you_mean(at->first, {k_arch_variable}),
                                 "Rename it, or unset it."));
}

Path absolute_variable(const Environment& environment, const std::string& name) {
  const MaybeRawSetting given = from_variable(environment, name);
  if (!given || !Path(given->text).is_absolute()) return {};
  return given->text;
}

// As the XDG base directory specification says; empty when the environment names no folder.
Path find_cache_dir(const Environment& environment) {
  if (const Path cache = absolute_variable(environment, "XDG_CACHE_HOME"); !cache.empty())
    return cache / "dsbuild";
  if (const Path home = absolute_variable(environment, "HOME"); !home.empty())
    return home / ".cache" / "dsbuild";
  return "/dev/null/dsbuild";
}

// The files are read now, so that a wrong one ends every command before it does anything.
Result<void> read_trusted_keys(const FileReader& files, Settings& settings) {
  std::vector<PublicKey>& keys = settings.trusted_keys;
  for (const std::string& file : settings.remote_trust.value) {
    DSBUILD_TRY(text, files.read_file(file));
    DSBUILD_TRY(more, parse_public_keys(text, file, "bad_remote_key"));
    keys.insert(keys.end(), more.begin(), more.end());
  }
  if (const Path& file = settings.remote_sign.value; !file.empty()) {
    DSBUILD_TRY(own, load_private_key(file, files, "bad_remote_key"));
    keys.push_back(own.public_key);
  }
  std::ranges::sort(keys, {}, &PublicKey::bytes);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return {};
}

// What was fetched and believed under other keys, or without any, must not count under these: it lies
// elsewhere.
void place_caches(Settings& settings) {
  if (settings.local_cache.is_default()) settings.local_cache.value = settings.cache_dir / "store";
  settings.facts_file = settings.cache_dir / "facts.json";
  if (settings.trusted_keys.empty()) return;
  std::string all;
  for (const PublicKey& key : settings.trusted_keys)
    all += key.bytes;
  const std::string name = sha256(all).substr(0, 16);
  settings.local_cache.value = settings.local_cache.value / k_trusted_folder / name;
  settings.facts_file = settings.cache_dir / ("facts-" + name + ".json");
}

}  // namespace

Setting<bool> load_annotations(const Environment& environment) {
  const MaybeRawSetting given = from_variable(environment, "GITHUB_ACTIONS");
  if (!given) return {};
  return {given->text == "true", given->origin};
}

Result<void> check_arguments(const Arguments& arguments) {
  DSBUILD_CHECK(check_known(arguments));
  Settings settings;
  return read_options(arguments, {}, {}, {}, settings);
}

Result<Settings> load_settings(const Arguments& arguments, const Environment& environment,
                               const FileReader& files, const Path& data_dir) {
  DSBUILD_CHECK(check_known(arguments));
  Settings settings;
  DSBUILD_TRY(project, project_of(arguments, files, data_dir, settings.warnings));
  DSBUILD_TRY(config, config_of(arguments, project, files, data_dir));
  DSBUILD_TRY(policy, policy_of(arguments, files));
  DSBUILD_CHECK(read_options(arguments, environment, config, policy, settings));
  DSBUILD_CHECK(check_needs(arguments, settings));
  // GPUs that a policy names must be covered.
  if (const MaybeRawSetting gpus = from_config(policy, "gpu")) settings.strict = {true, gpus->origin};
  select_all_of_named_pack(settings);
  if (settings.selection.workload_file) DSBUILD_CHECK(take_workload(files, settings));
  if (project) lie_beside(*project, settings);
  warn_of_ignored(environment, settings.warnings);
  settings.verbosity = arguments.verbosity;
  settings.given = arguments.values;
  settings.cache_dir = find_cache_dir(environment);
  DSBUILD_CHECK(read_trusted_keys(files, settings));
  DSBUILD_CHECK(read_policy_keys(files, settings.policy));
  place_caches(settings);
  settings.data_dir = data_dir;
  settings.variables = environment;
  return settings;
}

}  // namespace dsbuild
