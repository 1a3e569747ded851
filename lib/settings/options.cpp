#include "settings/options.h"

#include <algorithm>

#include "arch/vendor.h"
#include "base/args.h"
#include "settings/arch_requests.h"
#include "settings/builder.h"
#include "settings/color.h"
#include "settings/policy_options.h"
#include "settings/remote_options.h"
#include "settings/setting_values.h"
#include "settings/values.h"
#include "settings/variable_options.h"

namespace dsbuild {
namespace {

std::string ops_text(const Selection& selection) {
  Args chosen;
  if (selection.all) chosen.push_back("all");
  chosen.insert(chosen.end(), selection.names.begin(), selection.names.end());
  for (const std::string& name : selection.without)
    chosen.push_back("-" + name);
  return join(chosen, ",");
}

// load_selection reads it, with all variables DS_BUILD_….
SettingValue ops() {
  return {{}, [](const std::string& name, const Settings& settings) {
            return SettingRow{name, ops_text(settings.selection), settings.selection.origin};
          }};
}

SettingValue archs() {
  return {[](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(request, parse_arch_list(given.text, given.origin));
            if (given.origin == k_arch_variable)
              DSBUILD_CHECK(check_own_targets(request, *vendors().front(), given.origin));
            settings.arch = {request, given.origin};
            settings.arch_text = {given.text, given.origin};
            return {};
          },
          [](const std::string& name, const Settings& settings) {
            return row_of(name, settings.arch_text, settings.arch_text.value);
          }};
}

const Args k_cuda_backends = {"auto", "slices", "nvcc"};

const Vendor* vendor_of_backend(std::string_view word) {
  const auto found =
      std::ranges::find_if(vendors(), [&](const Vendor* vendor) { return vendor->backend() == word; });
  return found == vendors().end() ? nullptr : *found;
}

Args backend_words() {
  Args all;
  for (const Vendor* vendor : vendors())
    all.emplace_back(vendor->backend());
  all.insert(all.end(), k_cuda_backends.begin(), k_cuda_backends.end());
  return all;
}

// Two questions in one list: for whose GPUs, and how CUDA files are compiled.
Result<void> read_backends(const RawSetting& given, Settings& settings) {
  const Args words = split(given.text, ", ");
  settings.devices = {{}, given.origin};
  settings.backend = {CudaBackend::automatic, given.origin};
  Args how;
  for (const std::string& word : words.empty() ? Args{given.text} : words) {
    DSBUILD_TRY(index, parse_choice({word, given.origin}, backend_words()));
    const std::string known = backend_words()[index];
    std::vector<const Vendor*>& devices = settings.devices.value;
    if (const Vendor* vendor = vendor_of_backend(known)) {
      if (std::ranges::find(devices, vendor) == devices.end()) devices.push_back(vendor);
    } else if (how.empty() || how.front() == known) {
      how = {known};
      settings.backend.value =
          static_cast<CudaBackend>(std::ranges::find(k_cuda_backends, known) - k_cuda_backends.begin());
    } else {
      return fail(Exit::usage, "bad_choice", given.origin,
                  "'" + how.front() + "' and '" + known + "' are two ways to compile CUDA files",
                  "Name one of them.");
    }
  }
  return {};
}

SettingValue backends() {
  return {read_backends, [](const std::string& name, const Settings& settings) {
            Args words;
            for (const Vendor* vendor : settings.devices.value)
              words.emplace_back(vendor->backend());
            const auto how = static_cast<size_t>(settings.backend.value);
            if (how > 0 || words.empty()) words.push_back(k_cuda_backends[how]);
            return row_of(name, settings.backend, join(words, ","));
          }};
}

// ---- the table

constexpr HelpScreen k_first = HelpScreen::first;

std::vector<Option> options_of_the_request() {
  return {
      {.names = "--ops",
       .topic = Topic::ops,
       .type = "OPS",
       .help = "all, or names; -NAME leaves one out; @FILE: of `record`",
       .screen = k_first,
       .setting = "ops",
       .value = ops()},
      {.names = "--arch",
       .topic = Topic::archs,
       .type = "ARCHS",
       .help = "Architectures (TORCH_CUDA_ARCH_LIST)",
       .screen = k_first,
       .variable = k_arch_variable,
       .setting = "arch",
       .value = archs()},
      {.names = "--out",
       .topic = Topic::bundle,
       .type = "DIR",
       .help = "The bundle's folder [dsbuild-out]",
       .screen = k_first,
       .setting = "out",
       .value = text(&Settings::out)},
      {.names = "--build-dir",
       .topic = Topic::build_folder,
       .type = "DIR",
       .help = "Where objects, logs and build.ninja go [.dsbuild]",
       .screen = k_first,
       .setting = "build_dir",
       .value = text(&Settings::build_dir)},
      {.names = "--cuda-home",
       .topic = Topic::cuda,
       .type = "DIR",
       .help = "Use this CUDA toolkit and no other",
       .screen = k_first,
       .setting = "cuda_home",
       .value = text(&Settings::cuda_home)},
      {.names = "--rocm-home",
       .topic = Topic::other_toolkits,
       .type = "DIR",
       .help = "Use this ROCm or HIP toolkit and no other",
       .setting = "rocm_home",
       .value = text(&Settings::rocm_home)},
      {.names = "--oneapi-home",
       .topic = Topic::other_toolkits,
       .type = "DIR",
       .help = "Use oneAPI's compiler in this folder and no other",
       .setting = "oneapi_home",
       .value = text(&Settings::oneapi_home)},
  };
}

std::vector<Option> options_of_every_day() {
  return {
      {.names = "--config",
       .topic = Topic::config,
       .type = "FILE|PRESET",
       .help = "A preset (docker, ci, dev) or a YAML file",
       .screen = k_first},
      {.names = "--jobs,-j",
       .topic = Topic::cores,
       .type = "N",
       .help = "Edges run at a time (MAX_JOBS) [the cores]",
       .screen = k_first,
       .variable = "MAX_JOBS",
       .setting = "jobs",
       .value = number(&Settings::jobs, 1, 0, "auto")},
      {.names = "--keep-going,-k",
       .topic = Topic::failures,
       .help = "Finish the other ops after a failure",
       .screen = k_first,
       .setting = "keep_going",
       .value = flag(&Settings::keep_going)},
      {.names = "--ptxas-info",
       .topic = Topic::build,
       .help = "Show what each kernel takes: registers, stack, shared memory, spills",
       .variable = "DS_DEBUG_CUDA_BUILD",
       .setting = "ptxas_info",
       .value = flag_or_exactly("1", "DS_DEBUG_CUDA_BUILD", &Settings::ptxas_info)},
      {.names = "--strict",
       .topic = Topic::strict,
       .help = "Exit 3 if an op was skipped, 1 if a GPU is not covered",
       .screen = k_first,
       .setting = "strict",
       .value = flag(&Settings::strict)},
      {.names = "--json",
       .topic = Topic::every,
       .help = "Machine-readable results on stdout",
       .screen = k_first,
       .setting = "json",
       .value = flag(&Settings::json)},
  };
}

std::vector<Option> options_of_what_is_made() {
  return {
      {.names = "--pack",
       .topic = Topic::pack,
       .type = "PACK|DIR",
       .help = "The pack of ops: a name or a folder [native]",
       .setting = "pack",
       .value = text(&Settings::pack)},
      {.names = "--source",
       .topic = Topic::source,
       .type = "DIR",
       .help = "Source root of the pack",
       .setting = "source",
       .value = text(&Settings::source)},
      {.names = "--no-config",
       .topic = Topic::project_file,
       .help = "Read no dsbuild.yaml of this folder or one above"},
      {.names = "--add",
       .topic = Topic::kept_ops,
       .help = "Keep the ops that are in the bundle",
       .setting = "add",
       .value = flag(&Settings::add)},
      {.names = "--color",
       .topic = Topic::every,
       .type = "auto|always|never",
       .help = "Whether text has colours (NO_COLOR, FORCE_COLOR)",
       .variable = "NO_COLOR",
       .read_environment = color_of_environment,
       .setting = "color",
       .value = choice(&Settings::color, color_words())},
      {.names = "--compress-mode",
       .topic = Topic::compile,
       .type = "default|size|speed|balance|none",
       .help = "Of nvcc, where the toolkit has it",
       .setting = "compress_mode",
       .value = word_of(&Settings::compress_mode, {"default", "size", "speed", "balance", "none"}),
       .decides_bytes = true},
      {.names = "--pch",
       .topic = Topic::compile,
       .type = "auto|on|off",
       .help = "Precompile torch/extension.h [where that is faster]",
       .setting = "pch",
       .value = choice(&Settings::precompile, {"auto", "on", "off"})},
      {.names = "--backend",
       .topic = Topic::archs,
       .type = "cuda|hip|sycl|auto|slices|nvcc",
       .help = "GPUs to build for, a list; CUDA files: slices where that gives what nvcc gives, slices or "
               "an error, nvcc [auto]",
       .variable = "DSBUILD_BACKEND",
       .setting = "backend",
       .value = backends(),
       .decides_bytes = true},
      {.names = "--verify-against-nvcc,--audit",
       .topic = Topic::proof,
       .help = "Compile CUDA files by nvcc too, and compare what slices made with it",
       .setting = "verify_against_nvcc",
       .value = flag(&Settings::verify_against_nvcc)},
  };
}

// About a build, for others than who reads its output.
std::vector<Option> options_of_its_account() {
  return {
      {.names = "--builder-id",
       .topic = Topic::build,
       .type = "URI",
       .help = "Who builds, for provenance.intoto.json [CI's workflow or runner]",
       .variable = "GITHUB_WORKFLOW_REF",
       .read_environment = builder_of_environment,
       .setting = "builder_id",
       .value = uri(&Settings::builder_id)},
      {.names = "--timings",
       .topic = Topic::build,
       .help = "Show where the build's time and memory went: per file and arch, and what bounds it all",
       .setting = "timings",
       .value = flag(&Settings::timings)},
      {.names = "--metrics",
       .topic = Topic::build,
       .type = "FILE",
       .help = "Counts of builds and caches, written for dashboards after each build (OpenMetrics) [none]",
       .variable = "DSBUILD_METRICS",
       .setting = "metrics",
       .value = text(&Settings::metrics)},
      {.names = "--sign-key",
       .topic = Topic::build,
       .type = "FILE",
       .help = "Sign the bundle by this private key, as `dsbuild sign` does (PEM)",
       .variable = "DSBUILD_SIGN_KEY",
       .setting = "sign_key",
       .value = text(&Settings::sign_key)},
  };
}

std::vector<Option> options_of_the_run() {
  return {
      {.names = "--python",
       .topic = Topic::python,
       .type = "FILE",
       .help = "The Python whose torch the ops are for [python3]",
       .setting = "python",
       .value = text(&Settings::python)},
      {.names = "--cpu-baseline",
       .topic = Topic::archs,
       .type = cpu_baseline_values(),
       .help = "What CPU ops may use of the CPU [x86-64-v3, armv8.2-a]",
       .setting = "cpu_baseline",
       .value = text(&Settings::cpu_baseline),
       .decides_bytes = true},
      {.names = "--memory",
       .topic = Topic::cores,
       .type = "SIZE",
       .help = "Memory that all edges may use together: 8GiB [85 % of what is free]",
       .setting = "memory",
       .value = size(&Settings::memory, Zero::is_wrong, "auto")},
      {.names = "--cache-dir",
       .topic = Topic::cache,
       .type = "DIR",
       .help = "The local cache, which all build folders share [~/.cache/dsbuild/store]",
       .variable = "DSBUILD_CACHE_DIR",
       .setting = "cache_dir",
       .value = text(&Settings::local_cache)},
      {.names = "--cache-size",
       .topic = Topic::cache_size,
       .type = "SIZE",
       .help = "How large the local cache may be; 0: none [10G]",
       .variable = "DSBUILD_CACHE_SIZE",
       .setting = "cache_size",
       .value = size(&Settings::local_cache_size, Zero::is_none, "0 B")},
      {.names = "--lock-timeout",
       .topic = Topic::lock,
       .type = "SECONDS",
       .help = "Seconds to wait for another dsbuild [for ever]",
       .setting = "lock_timeout",
       .value = number(&Settings::lock_timeout, 0, -1, "wait for ever")},
      {.names = "--debug",
       .topic = Topic::compile,
       .help = "Debug info (-g, -lineinfo for device code), and symbols are kept",
       .setting = "debug",
       .value = flag(&Settings::debug),
       .decides_bytes = true},
      {.names = "--allow-disjoint-archs",
       .topic = Topic::disjoint_archs,
       .help = "Build even if no arch is common to all ops",
       .setting = "allow_disjoint_archs",
       .value = flag(&Settings::allow_disjoint_archs),
       .decides_bytes = true},
      {.names = "--drop-unsupported-archs",
       .topic = Topic::archs,
       .help = "Leave out archs that the toolkit cannot target",
       .setting = "drop_unsupported_archs",
       .value = flag(&Settings::drop_unsupported_archs),
       .decides_bytes = true},
      {.names = "--pass-environment",
       .topic = Topic::tool_environment,
       .type = "NAMES",
       .help = "Variables that compilers get besides CPATH and the like",
       .setting = "pass_environment",
       .value = words(&Settings::pass_environment, parse_variable_names),
       .decides_bytes = true},
      {.names = "--offline",
       .topic = Topic::offline,
       .help = "Fetch nothing",
       .setting = "offline",
       .value = flag(&Settings::offline)},
      {.names = "--paranoid",
       .topic = Topic::digests,
       .help = "Read each file again for its digest, also where it looks unchanged",
       .variable = k_paranoid_variable,
       .setting = "paranoid",
       .value = flag(&Settings::paranoid)},
  };
}

// Those of the rows that name no other topic are of this one.
std::vector<Option> about(Topic topic, std::vector<Option> rows) {
  for (Option& row : rows)
    if (row.topic == Topic::own) row.topic = topic;
  return rows;
}

std::vector<Option> all_options() {
  std::vector<Option> all = options_of_the_request();
  for (const auto& more :
       {options_of_every_day(), options_of_what_is_made(), options_of_its_account(), options_of_the_run(),
        options_of_policy(), about(Topic::shared_cache, options_of_sharing()),
        about(Topic::trust, options_of_trust()), about(Topic::build, options_of_execution()),
        about(Topic::build, options_of_shards()), variable_options(), variables_of_bytes()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

void add_switches(const Selection& selection, std::vector<SettingRow>& rows) {
  const auto add = [&](const std::string& name, Switch value) {
    if (value != Switch::unset) rows.push_back({name, value == Switch::on ? "on" : "off", name});
  };
  add("DS_BUILD_OPS", selection.build_ops);
  for (const auto& [name, value] : selection.variables)
    add(name, value);
}

}  // namespace

const std::vector<Option>& options() {
  static const std::vector<Option> table = all_options();
  return table;
}

const Option* find_option(const std::string& name) {
  const auto found = std::find_if(options().begin(), options().end(), [&](const Option& option) {
    return !option.names.empty() && option.name() == name;
  });
  return found == options().end() ? nullptr : &*found;
}

std::vector<SettingRow> setting_rows(const Settings& settings) {
  std::vector<SettingRow> rows;
  for (const Option& option : options()) {
    if (option.value.show) rows.push_back(option.value.show(option.setting, settings));
    if (option.setting == "ops") add_switches(settings.selection, rows);
  }
  return rows;
}

}  // namespace dsbuild
