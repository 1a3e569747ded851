#include <array>

#include "settings/given.h"
#include "settings/settings.h"
#include "settings/values.h"

namespace dsbuild {
namespace {

struct Inputs {
  const Arguments& arguments;
  const Environment& environment;
  ConfigEntries config;

  MaybeGiven option_or_config(const std::optional<std::string>& argument, const std::string& option,
                              const std::string& key) const {
    return first_given({from_argument(argument, option), from_config(config, key)});
  }
};

// Text settings and paths: blank is an error, absent keeps the default.
template <class T>
Result<void> set_text(Setting<T>& setting, const MaybeGiven& given) {
  if (!given) return {};
  DSBUILD_TRY(text, parse_non_blank(*given));
  setting = {T(text), given->origin};
  return {};
}

Result<void> set_number(Setting<int>& setting, const MaybeGiven& given, int least) {
  if (!given) return {};
  DSBUILD_TRY(number, parse_number(*given, least));
  setting = {number, given->origin};
  return {};
}

Result<void> load_texts(const Inputs& in, Settings& settings) {
  const Arguments& given = in.arguments;
  DSBUILD_CHECK(set_text(settings.pack, in.option_or_config(given.pack, "--pack", "pack")));
  DSBUILD_CHECK(set_text(settings.source, in.option_or_config(given.source, "--source", "source")));
  DSBUILD_CHECK(set_text(settings.out, in.option_or_config(given.out, "--out", "out")));
  DSBUILD_CHECK(
      set_text(settings.build_dir, in.option_or_config(given.build_dir, "--build-dir", "build_dir")));
  DSBUILD_CHECK(
      set_text(settings.cuda_home, in.option_or_config(given.cuda_home, "--cuda-home", "cuda_home")));
  DSBUILD_CHECK(set_text(settings.python, in.option_or_config(given.python, "--python", "python")));
  DSBUILD_CHECK(set_text(settings.cpu_baseline,
                         in.option_or_config(given.cpu_baseline, "--cpu-baseline", "cpu_baseline")));
  DSBUILD_CHECK(set_text(settings.store, first_given({from_argument(given.store, "--cache-dir"),
                                                      from_variable(in.environment, "DSBUILD_CACHE_DIR"),
                                                      from_config(in.config, "cache_dir")})));
  if (const auto text = from_variable(in.environment, "DS_BUILD_STRING")) {
    settings.build_string = {text->text, text->origin};
  }
  return {};
}

Result<void> load_numbers(const Inputs& in, Settings& settings) {
  const MaybeGiven jobs =
      first_given({from_argument(in.arguments.jobs, "--jobs"), from_variable(in.environment, "MAX_JOBS"),
                   from_config(in.config, "jobs")});
  DSBUILD_CHECK(set_number(settings.jobs, jobs, 1));
  DSBUILD_CHECK(set_number(settings.nvcc_threads, from_variable(in.environment, "DS_NVCC_THREADS"), 1));
  DSBUILD_CHECK(set_number(settings.lock_timeout,
                           in.option_or_config(in.arguments.lock_timeout, "--lock-timeout", "lock_timeout"),
                           0));
  if (const MaybeGiven memory = in.option_or_config(in.arguments.memory, "--memory", "memory")) {
    DSBUILD_TRY(bytes, parse_size(*memory));
    settings.memory = {bytes, memory->origin};
  }
  if (const MaybeGiven size = first_given({from_argument(in.arguments.store_size, "--cache-size"),
                                           from_variable(in.environment, "DSBUILD_CACHE_SIZE"),
                                           from_config(in.config, "cache_size")})) {
    settings.store_size = {0, size->origin};  // "0": none is kept
    if (trim(size->text) != "0") {
      DSBUILD_TRY(bytes, parse_size(*size));
      settings.store_size.value = bytes;
    }
  }
  return {};
}

Result<void> load_switches(const Inputs& in, Settings& settings) {
  struct Row {
    bool argument;
    const char* option;
    const char* key;
    Setting<bool>& setting;
  };
  const Arguments& given = in.arguments;
  const std::array rows = {
      Row{given.keep_going, "--keep-going", "keep_going", settings.keep_going},
      Row{given.strict, "--strict", "strict", settings.strict},
      Row{given.json, "--json", "json", settings.json},
      Row{given.offline, "--offline", "offline", settings.offline},
      Row{given.debug, "--debug", "debug", settings.debug},
      Row{given.verify_against_nvcc, "--verify-against-nvcc", "verify_against_nvcc",
          settings.verify_against_nvcc},
      Row{given.allow_disjoint_archs, "--allow-disjoint-archs", "allow_disjoint_archs",
          settings.allow_disjoint_archs},
      Row{given.drop_unsupported_archs, "--drop-unsupported-archs", "drop_unsupported_archs",
          settings.drop_unsupported_archs},
  };
  for (const Row& row : rows) {
    if (row.argument) {
      row.setting = {true, row.option};
    } else if (const auto entry = from_config(in.config, row.key)) {
      DSBUILD_TRY(value, parse_bool(*entry));
      row.setting = {value, entry->origin};
    }
  }
  const auto exactly_one = [&](const char* name, Setting<bool>& setting) {
    if (const auto given_variable = from_variable(in.environment, name))
      setting = {given_variable->text == "1", given_variable->origin};
  };
  exactly_one("DS_DEBUG_CUDA_BUILD", settings.debug_cuda_build);
  exactly_one("DS_SKIP_CUDA_CHECK", settings.skip_cuda_check);
  return {};
}

Result<void> load_color(const Inputs& in, Settings& settings) {
  static const std::vector<std::string> choices = {"auto", "always", "never"};
  if (!in.arguments.color && from_variable(in.environment, "NO_COLOR")) {
    settings.color = {ColorMode::never, "NO_COLOR"};
    return {};
  }
  const MaybeGiven given = in.option_or_config(in.arguments.color, "--color", "color");
  if (!given) return {};
  DSBUILD_TRY(place, parse_choice(*given, choices));
  settings.color = {static_cast<ColorMode>(place), given->origin};
  return {};
}

Result<void> load_choices(const Inputs& in, Settings& settings) {
  static const std::vector<std::string> modes = {"default", "size", "speed", "balance", "none"};
  DSBUILD_CHECK(load_color(in, settings));
  if (const auto mode = in.option_or_config(in.arguments.compress_mode, "--compress-mode", "compress_mode")) {
    DSBUILD_TRY(place, parse_choice(*mode, modes));
    settings.compress_mode = {modes[place], mode->origin};
  }
  if (const auto when = in.option_or_config(in.arguments.precompile, "--pch", "pch")) {
    static const std::vector<std::string> choices = {"auto", "on", "off"};
    DSBUILD_TRY(place, parse_choice(*when, choices));
    settings.precompile = {static_cast<Precompile>(place), when->origin};
  }
  if (const auto backend = first_given({from_argument(in.arguments.backend, "--backend"),
                                        from_variable(in.environment, "DSBUILD_BACKEND"),
                                        from_config(in.config, "backend")})) {
    static const std::vector<std::string> choices = {"auto", "slices", "nvcc"};
    DSBUILD_TRY(place, parse_choice(*backend, choices));
    settings.backend = {static_cast<CudaBackend>(place), backend->origin};
  }
  if (const auto name = from_variable(in.environment, "DS_ACCELERATOR")) {
    DSBUILD_TRY(kind, parse_accelerator(*name));
    settings.accelerator = {kind, name->origin};
  }
  return {};
}

Result<void> load_flags(const Inputs& in, Settings& settings) {
  const auto nvcc_flags = [&](const char* name, Setting<std::vector<std::string>>& setting) -> Result<void> {
    const MaybeGiven given = from_variable(in.environment, name);
    if (!given) return {};
    DSBUILD_TRY(flags, parse_nvcc_flags(*given));
    setting = {flags, given->origin};
    return {};
  };
  DSBUILD_CHECK(nvcc_flags("NVCC_PREPEND_FLAGS", settings.nvcc_prepend_flags));
  DSBUILD_CHECK(nvcc_flags("NVCC_APPEND_FLAGS", settings.nvcc_append_flags));
  const auto shell_flags = [&](const char* name, Setting<std::vector<std::string>>& setting) {
    if (const auto given = from_variable(in.environment, name))
      setting = {shell_split(given->text), given->origin};
  };
  shell_flags("CFLAGS", settings.cflags);
  shell_flags("LDFLAGS", settings.ldflags);
  return {};
}

// The environment's arch list; one that is set but blank counts as unset, and is worth a line.
MaybeGiven arch_variable(const Environment& environment, std::vector<Warning>& warnings) {
  const std::string name = "TORCH_CUDA_ARCH_LIST";
  const auto found = environment.find(name);
  if (found == environment.end()) return std::nullopt;
  if (!trim(found->second).empty()) return Given{found->second, name};
  warnings.push_back(warning("blank_arch_list", name, "it is set but blank, which counts as unset",
                             "Unset it, or give architectures as in \"7.0;8.0+PTX\"."));
  return std::nullopt;
}

Result<void> load_arch(const Inputs& in, Settings& settings) {
  MaybeGiven given = from_argument(in.arguments.arch, "--arch");
  if (!given) given = arch_variable(in.environment, settings.warnings);
  if (!given) given = from_config(in.config, "arch");
  if (!given) {
    settings.arch.value.is_default = true;
    return {};
  }
  DSBUILD_TRY(request, parse_arch_list(given->text, given->origin));
  settings.arch = {request, given->origin};
  settings.arch_text = {given->text, given->origin};
  return {};
}

// DeepSpeed once built this op for one architecture only; its library here holds the kernels of all.
void warn_of_ignored(const Environment& environment, std::vector<Warning>& warnings) {
  const std::string name = "DS_EVOFORMER_GPU_ARCH";
  if (!from_variable(environment, name)) return;
  warnings.push_back(
      warning("ignored_variable", name,
              "it is set but not used: evoformer_attn chooses its kernels on the GPU at run time",
              "Unset it; --arch or TORCH_CUDA_ARCH_LIST say what to build for."));
}

Path absolute_variable(const Environment& environment, const std::string& name) {
  const MaybeGiven given = from_variable(environment, name);
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

}  // namespace

Setting<bool> load_annotations(const Environment& environment) {
  const MaybeGiven given = from_variable(environment, "GITHUB_ACTIONS");
  if (!given) return {};
  return {given->text == "true", given->origin};
}

Result<Settings> load_settings(const Arguments& arguments, const Environment& environment,
                               const FileReader& files, const Path& data_dir) {
  Inputs in{arguments, environment, {}};
  if (arguments.config) {
    DSBUILD_TRY(config, load_config(*arguments.config, files, data_dir));
    in.config = std::move(config);
  }
  Settings settings;
  DSBUILD_TRY(selection, load_selection(from_argument(arguments.ops, "--ops"), environment, in.config));
  settings.selection = std::move(selection);
  DSBUILD_CHECK(load_arch(in, settings));
  DSBUILD_CHECK(load_texts(in, settings));
  DSBUILD_CHECK(load_numbers(in, settings));
  DSBUILD_CHECK(load_switches(in, settings));
  DSBUILD_CHECK(load_choices(in, settings));
  DSBUILD_CHECK(load_flags(in, settings));
  settings.annotations = load_annotations(environment);
  warn_of_ignored(environment, settings.warnings);
  settings.verbosity = arguments.verbosity;
  settings.cache_dir = find_cache_dir(environment);
  if (settings.store.is_default()) settings.store.value = settings.cache_dir / "store";
  settings.data_dir = data_dir;
  return settings;
}

}  // namespace dsbuild
