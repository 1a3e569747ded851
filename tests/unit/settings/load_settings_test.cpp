#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "settings/options.h"

namespace dsbuild {
namespace {

// Of RFC 8032, section 7.1, TEST 1, by `openssl pkey`.
constexpr const char* k_private_pem =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* k_public_pem =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

struct World {
  FakeFileSystem files;
  Arguments arguments;
  Environment environment;

  World() {
    files.add_file("/data/configs/ci.yaml", "ops: all\nstrict: true\njobs: 3\n");
    files.add_file("/data/configs/docker.yaml", "arch: [8.0, 9.0+PTX]\n");
    files.add_file("/project/x", k_private_pem);  // what --remote-sign and --remote-trust are tried with
    files.add_file("/project/FILES", k_public_pem);
  }
  Result<Settings> load() const { return load_settings(arguments, environment, files, "/data"); }
  Settings settings() const {
    const auto loaded = load();
    if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
    return *loaded;
  }
  Error error() const {
    const auto loaded = load();
    REQUIRE_FALSE(loaded);
    return loaded.error();
  }
};

Error message(Exit exit, MessageCode code, std::string where, std::string what, std::string fix = {}) {
  return fail(exit, code, std::move(where), std::move(what), std::move(fix)).value();
}

void check_equal(const Error& actual, const Error& expected) {
  CHECK(actual.code == expected.code);
  CHECK(actual.where == expected.where);
  CHECK(actual.what == expected.what);
  CHECK(actual.fix == expected.fix);
  CHECK(static_cast<int>(actual.exit) == static_cast<int>(expected.exit));
}

TEST_CASE("with nothing given every setting is its default") {
  const Settings settings = World().settings();
  CHECK(settings.pack.value == "native");
  CHECK(settings.out.value == "dsbuild-out");
  CHECK(settings.build_dir.value == ".dsbuild");
  CHECK(settings.jobs.value == 0);
  CHECK(settings.nvcc_threads.value == 1);
  CHECK(settings.lock_timeout.value == -1);
  CHECK(settings.arch.value.is_default);
  CHECK_FALSE(settings.selection.ops_given);
  CHECK(settings.warnings.empty());
  CHECK(settings.data_dir == "/data");
  for (const SettingRow& row : setting_rows(settings))
    CHECK(row.origin == "default");
}

TEST_CASE("the command line is above the environment, that above the config file, that above the default") {
  World world;
  CHECK(world.settings().jobs == Setting<int>{0, "default"});
  world.arguments["--config"] = "ci";
  CHECK(world.settings().jobs == Setting<int>{3, "configs/ci.yaml:3:1"});
  world.environment["MAX_JOBS"] = "5";
  CHECK(world.settings().jobs == Setting<int>{5, "MAX_JOBS"});
  world.arguments["--jobs"] = "7";
  CHECK(world.settings().jobs == Setting<int>{7, "--jobs"});
}

TEST_CASE("the arch list comes from --arch, then TORCH_CUDA_ARCH_LIST, then the config file") {
  World world;
  world.arguments["--config"] = "docker";
  CHECK(world.settings().arch_text == Setting<std::string>{"8.0;9.0+PTX", "configs/docker.yaml:1:1"});
  world.environment["TORCH_CUDA_ARCH_LIST"] = "7.5";
  CHECK(world.settings().arch_text == Setting<std::string>{"7.5", "TORCH_CUDA_ARCH_LIST"});
  world.arguments["--arch"] = "7.0;8.0+PTX";
  const Settings settings = world.settings();
  CHECK(settings.arch.origin == "--arch");
  CHECK(arch_list(settings.arch.value.targets) == "7.0;8.0+PTX");
  CHECK_FALSE(settings.arch.value.is_default);
}

TEST_CASE("a blank TORCH_CUDA_ARCH_LIST counts as unset, and a warning says so") {
  for (const std::string blank : {"", " ", "\t \n"}) {
    World world;
    world.environment["TORCH_CUDA_ARCH_LIST"] = blank;
    const Settings settings = world.settings();
    CHECK(settings.arch.value.is_default);
    REQUIRE(settings.warnings.size() == 1);
    CHECK(settings.warnings[0] == warning("blank_arch_list", "TORCH_CUDA_ARCH_LIST",
                                          "it is set but blank, which counts as unset",
                                          "Unset it, or give architectures as in 8.0,9.0+PTX."));
    world.arguments["--arch"] = "8.0";
    CHECK(world.settings().warnings.empty());
  }
}

TEST_CASE(
    "DeepSpeed's DS_EVOFORMER_GPU_ARCH is warned about, and changes nothing; empty it counts as unset") {
  World world;
  world.environment["DS_EVOFORMER_GPU_ARCH"] = "80";
  const Settings settings = world.settings();
  REQUIRE(settings.warnings.size() == 1);
  CHECK(settings.warnings[0].code == "ignored_variable");
  CHECK(settings.arch.value.is_default);
  world.environment["DS_EVOFORMER_GPU_ARCH"] = "";
  CHECK(world.settings().warnings.empty());
}

TEST_CASE("an empty --arch is an error that names the option") {
  World world;
  world.arguments["--arch"] = "";
  CHECK(world.error().code == "empty_arch_list");
  CHECK(world.error().where == "--arch");
  CHECK(world.error().exit == Exit::usage);
}

TEST_CASE("NVCC flags are split at blanks and those that name an architecture are refused") {
  World world;
  world.environment["NVCC_PREPEND_FLAGS"] = "-ccbin g++-11  -lineinfo";
  CHECK(world.settings().nvcc_prepend_flags.value ==
        std::vector<std::string>{"-ccbin", "g++-11", "-lineinfo"});
  world.environment["NVCC_APPEND_FLAGS"] = "-O2 -gencode=arch=compute_80,code=sm_80";
  check_equal(
      world.error(),
      message(Exit::usage, "arch_in_nvcc_flags", "NVCC_APPEND_FLAGS",
              "'-gencode=arch=compute_80,code=sm_80' names an architecture; what is built would differ "
              "from the plan",
              "Take it out of NVCC_APPEND_FLAGS and ask for architectures with --arch."));
  for (const std::string flag :
       {"-gencode", "--generate-code=arch=compute_80", "-arch", "-arch=sm_80", "--arch=all", "-code=sm_80",
        "--gpu-architecture", "--gpu-code=sm_80", "--gpu-anything"}) {
    world.environment["NVCC_APPEND_FLAGS"] = flag;
    CHECK(world.error().code == "arch_in_nvcc_flags");
  }
  for (const std::string flag : {"-archive-options=x", "--list-gpu-arch", "-D__CUDA_ARCH_LIST", "sm_80"}) {
    world.environment["NVCC_APPEND_FLAGS"] = flag;
    CHECK(world.settings().nvcc_append_flags.value == std::vector<std::string>{flag});
  }
}

TEST_CASE("--python and --cpu-baseline beat the config file; Python is python3 by default") {
  World world;
  CHECK(world.settings().python == Setting<std::string>{"python3", "default"});
  CHECK(world.settings().cpu_baseline == Setting<std::string>{"", "default"});
  world.files.add_file("/data/configs/venv.yaml", "python: /venv/bin/python\ncpu_baseline: native\n");
  world.arguments["--config"] = "venv";
  CHECK(world.settings().python == Setting<std::string>{"/venv/bin/python", "configs/venv.yaml:1:1"});
  CHECK(world.settings().cpu_baseline == Setting<std::string>{"native", "configs/venv.yaml:2:1"});
  world.arguments["--python"] = "python3.11";
  world.arguments["--cpu-baseline"] = "x86-64-v2";
  CHECK(world.settings().python == Setting<std::string>{"python3.11", "--python"});
  CHECK(world.settings().cpu_baseline == Setting<std::string>{"x86-64-v2", "--cpu-baseline"});
  world.arguments["--python"] = "";
  CHECK(world.error().code == "empty_value");
}

TEST_CASE("the backend is auto unless a config file, DSBUILD_BACKEND or --backend says otherwise") {
  World world;
  CHECK(world.settings().backend == Setting<CudaBackend>{CudaBackend::automatic, "default"});
  world.files.add_file("/data/configs/plain.yaml", "backend: nvcc\n");
  world.arguments["--config"] = "plain";
  CHECK(world.settings().backend == Setting<CudaBackend>{CudaBackend::nvcc, "configs/plain.yaml:1:1"});
  world.environment["DSBUILD_BACKEND"] = "slices";
  CHECK(world.settings().backend == Setting<CudaBackend>{CudaBackend::slices, "DSBUILD_BACKEND"});
  world.arguments["--backend"] = "auto";
  CHECK(world.settings().backend == Setting<CudaBackend>{CudaBackend::automatic, "--backend"});
  world.arguments["--backend"] = "slice";
  check_equal(world.error(), message(Exit::usage, "bad_choice", "--backend",
                                     "'slice' is not one of the choices (did you mean 'slices'?)",
                                     "Choose cuda, hip, sycl, auto, slices, nvcc."));
}

TEST_CASE("DS_SKIP_CUDA_CHECK counts only as exactly 1, as in DeepSpeed") {
  World world;
  for (const std::string other : {"", "0", "true", "2", " 1"}) {
    world.environment["DS_SKIP_CUDA_CHECK"] = other;
    CHECK_FALSE(world.settings().skip_cuda_check.value);
  }
  world.environment["DS_SKIP_CUDA_CHECK"] = "1";
  CHECK(world.settings().skip_cuda_check == Setting<bool>{true, "DS_SKIP_CUDA_CHECK"});
}

TEST_CASE("numbers are whole numbers of at least their minimum, and an error names where they came from") {
  World world;
  for (const std::string bad : {"0", "-1", "many", "x4", "-1.5", "99999999999"}) {
    world.environment["MAX_JOBS"] = bad;
    check_equal(world.error(), message(Exit::usage, "bad_number", "MAX_JOBS",
                                       "'" + bad + "' is not a whole number of at least 1",
                                       "Give one, or leave MAX_JOBS out."));
  }
  world.environment["MAX_JOBS"] = "";
  CHECK(world.settings().jobs.is_default());
  world.environment["DS_NVCC_THREADS"] = "no";
  CHECK(world.error().where == "DS_NVCC_THREADS");
  world.environment["DS_NVCC_THREADS"] = "4";
  CHECK(world.settings().nvcc_threads == Setting<int>{4, "DS_NVCC_THREADS"});
  world.arguments["--lock-timeout"] = "0";
  CHECK(world.settings().lock_timeout == Setting<int>{0, "--lock-timeout"});
  world.arguments["--lock-timeout"] = "-5";
  CHECK(world.error().where == "--lock-timeout");
}

TEST_CASE("--memory takes bytes with a unit of 1024") {
  World world;
  for (const auto& [text, bytes] : std::map<std::string, unsigned long long>{{"1048576", 1048576},
                                                                             {"8G", 8589934592},
                                                                             {"8gib", 8589934592},
                                                                             {"512M", 536870912},
                                                                             {"2K", 2048}}) {
    world.arguments["--memory"] = text;
    CHECK(world.settings().memory.value == bytes);
  }
  for (const std::string bad : {"", "0", "G", "8X", "-1G", "99999999999999T"}) {
    world.arguments["--memory"] = bad;
    CHECK(world.error().code == "bad_size");
  }
}

TEST_CASE("Variables for compilers are named in one text or in a list, with a star at the end or none") {
  using Names = std::vector<std::string>;
  World world;
  CHECK(world.settings().pass_environment.value.empty());
  world.files.add_file("/data/configs/site.yaml", "pass_environment: [SITE_FLAGS, SITE_GCC_*]\n");
  world.arguments["--config"] = "site";
  CHECK(world.settings().pass_environment.value == Names{"SITE_FLAGS", "SITE_GCC_*"});
  world.arguments["--pass-environment"] = "A, _b2;C*";
  CHECK(world.settings().pass_environment.value == Names{"A", "_b2", "C*"});
  for (const std::string bad : {"A=1", "2A", "*", "A*B", "$A"}) {
    world.arguments["--pass-environment"] = bad;
    CHECK(world.error().code == "bad_variable");
  }
}

TEST_CASE("memory may stand in a config file, and --memory beats it") {
  World world;
  world.files.add_file("/data/configs/small.yaml", "memory: 2G\n");
  world.arguments["--config"] = "small";
  CHECK(world.settings().memory.value == 2ULL << 30);
  CHECK(world.settings().memory.origin == "configs/small.yaml:1:1");
  world.arguments["--memory"] = "3G";
  CHECK(world.settings().memory.value == 3ULL << 30);
}

TEST_CASE("audit in a config file is the older name of verify_against_nvcc") {
  World world;
  world.files.add_file("/data/configs/old.yaml", "audit: true\n");
  world.arguments["--config"] = "old";
  CHECK(world.settings().verify_against_nvcc == Setting<bool>{true, "configs/old.yaml:1:1"});
}

TEST_CASE("an unknown key of a config file is an error with its position and the nearest key") {
  World world;
  world.files.add_file("/data/configs/typo.yaml", "ops: all\njbs: 3\n");
  world.arguments["--config"] = "typo";
  check_equal(
      world.error(),
      message(Exit::usage, "bad_config", "configs/typo.yaml:2:1", "unknown key 'jbs' (did you mean 'jobs'?)",
              "Keys of a config file: ops, arch, out, build_dir, cuda_home, rocm_home, "
              "oneapi_home, jobs, keep_going, ptxas_info, "
              "strict, json, pack, "
              "source, add, color, compress_mode, pch, backend, verify_against_nvcc, builder_id, timings, "
              "metrics, "
              "sign_key, python, "
              "cpu_baseline, memory, "
              "cache_dir, cache_size, lock_timeout, debug, allow_disjoint_archs, drop_unsupported_archs, "
              "pass_environment, offline, paranoid, remote, remote_scope, remote_upload, "
              "remote_ttl, remote_credentials, remote_credential_helper, remote_ca, remote_client_cert, "
              "remote_client_key, remote_sign, remote_trust, remote_exec, remote_jobs, remote_tools, "
              "remote_local, remote_platform, shard, shard_plan."));
}

TEST_CASE("a config value of the wrong type or value is an error with its position") {
  World world;
  world.arguments["--config"] = "sub/my.yaml";
  const auto where_of = [&](const std::string& text) {
    world.files.add_file("/project/sub/my.yaml", text);
    return world.error().code + " " + world.error().where;
  };
  CHECK(where_of("jobs: [1]\n") == "bad_config sub/my.yaml:1:7");
  CHECK(where_of("ops: {a: b}\n") == "bad_config sub/my.yaml:1:6");
  CHECK(where_of("ops: [a, [b]]\n") == "bad_config sub/my.yaml:1:10");
  CHECK(where_of("ops: all\njobs:\n") == "bad_config sub/my.yaml:2:1");
  CHECK(where_of("- ops\n") == "bad_config sub/my.yaml:1:1");
  CHECK(where_of("\nstrict: maybe\n") == "bad_switch sub/my.yaml:2:1");
  CHECK(where_of("\n\n  jobs: few\n") == "bad_number sub/my.yaml:3:3");
  CHECK(where_of("color: blue\n") == "bad_choice sub/my.yaml:1:1");
  CHECK(where_of("out: ''\n") == "empty_value sub/my.yaml:1:1");
  CHECK(where_of("out: a\nout: b\n").rfind("bad_yaml sub/my.yaml:2:1", 0) == 0);
}

TEST_CASE("an unknown preset lists the presets") {
  World world;
  world.arguments["--config"] = "dokcer";
  check_equal(world.error(), message(Exit::usage, "unknown_preset", "--config",
                                     "no preset or file 'dokcer' (did you mean 'docker'?)",
                                     "Presets: ci, docker. A file is given by its path."));
  world.arguments["--config"] = "no/such.yaml";
  check_equal(world.error(),
              message(Exit::usage, "no_config_file", "--config", "there is no file 'no/such.yaml'",
                      "Give a file, or a preset: ci, docker."));
  world.files.add_file("/project/mine", "jobs: 2\n");
  world.arguments["--config"] = "mine";
  CHECK(world.settings().jobs == Setting<int>{2, "mine:1:1"});
}

TEST_CASE("an empty value of an option is an error that names it") {
  for (const char* option : {"--pack", "--source", "--out", "--build-dir", "--cuda-home"}) {
    World world;
    world.arguments[option] = " ";
    CHECK(world.error().code == "empty_value");
    CHECK(world.error().where == option);
    world.arguments[option] = "some where";
    CHECK(world.load());
  }
}

TEST_CASE("an option that is not in the table is an error, for programs that call this") {
  World world;
  world.arguments["--job"] = "3";
  CHECK(world.error().code == "bad_option");
  CHECK(world.error().where == "--job");
}

TEST_CASE("each set of trusted keys has caches of its own, and who signs trusts himself") {
  World world;
  world.environment["XDG_CACHE_HOME"] = "/cache";
  CHECK(world.settings().local_cache.value == "/cache/dsbuild/store");
  CHECK(world.settings().facts_file == "/cache/dsbuild/facts.json");
  world.arguments["--remote-trust"] = "FILES,FILES";
  const Settings trusting = world.settings();
  CHECK(trusting.trusted_keys.size() == 1);
  // sha256sum of the key's 32 bytes
  CHECK(trusting.local_cache.value == "/cache/dsbuild/store/trusted/21fe31dfa154a261");
  CHECK(trusting.facts_file == "/cache/dsbuild/facts-21fe31dfa154a261.json");
  world.arguments["--remote-sign"] = "x";
  CHECK(world.settings().local_cache.value == trusting.local_cache.value);
  world.arguments.values.erase("--remote-trust");
  CHECK(world.settings().local_cache.value == trusting.local_cache.value);
  world.arguments["--remote-trust"] = "x";
  CHECK(world.error().code == "bad_remote_key");
}

TEST_CASE("each row of the table is read from all that it names, and shows in plan -v where from") {
  // Of a choice its last word.
  const auto sample_of = [](const Option& option) -> std::string {
    if (option.type == "upload|worker:DIR") return "upload";
    static const std::map<std::string, std::string> samples = {
        {"", "1"},      {"OPS", "all"},    {"ARCHS", "8.0"},      {"N", "2"},
        {"SIZE", "2G"}, {"DIR", "x"},      {"SECONDS", "2"},      {"DAYS", "2"},
        {"FILE", "x"},  {"PACK|DIR", "x"}, {"PROPERTIES", "a=b"}, {"URI", "urn:x"}};
    const auto sample = samples.find(option.type);
    return sample != samples.end() ? sample->second : option.type.substr(option.type.rfind('|') + 1);
  };
  for (const Option& option : options()) {
    if (!option.value.show) continue;
    INFO(option.name() << option.variable);
    const auto origin_in = [&](const World& world) {
      std::string origin;
      for (const SettingRow& row : setting_rows(world.settings()))
        if (row.name == option.setting) origin = row.origin;
      return origin;
    };
    if (!option.variable.empty()) {
      World world;
      world.environment["GITHUB_SERVER_URL"] = "https://github.example";
      world.environment[option.variable] = option.variable == "DS_ACCELERATOR" ? "cpu" : sample_of(option);
      CHECK(origin_in(world) == option.variable);
    }
    if (option.names.empty()) continue;
    World world;
    if (!option.needs.empty())
      world.environment[find_option(option.needs.front())->variable] = "reapi://host/x";
    world.files.add_file("/data/configs/all.yaml", option.setting + ": " + sample_of(option) + "\n");
    world.arguments["--config"] = "all";
    CHECK(origin_in(world) == "configs/all.yaml:1:1");
    world.arguments[option.name()] = sample_of(option);
    CHECK(origin_in(world) == option.name());
  }
}

TEST_CASE("docs/reference/cli.md has each option and each variable of the table") {
  const auto page = make_real_file_system()->read_file(Path(DSBUILD_TESTS_DIR) / "../docs/reference/cli.md");
  REQUIRE(page);
  for (const Option& option : options()) {
    INFO(option.name() << option.variable);
    if (!option.names.empty()) CHECK(page->find("| `" + option.name()) != std::string::npos);
    if (!option.variable.empty()) CHECK(page->find("`" + option.variable + "`") != std::string::npos);
    if (!option.names.empty() && !option.setting.empty())
      CHECK(page->find("`" + option.setting + "`") != std::string::npos);
  }
}

TEST_CASE(
    "DS_ACCELERATOR takes cuda, cpu or xpu; others that DeepSpeed has are not built, unknown ones are "
    "errors") {
  World world;
  world.environment["DS_ACCELERATOR"] = "cpu";
  CHECK(world.settings().accelerator.value == AcceleratorKind::cpu);
  world.environment["DS_ACCELERATOR"] = "xpu";
  CHECK(world.settings().accelerator.value == AcceleratorKind::xpu);
  world.environment["DS_ACCELERATOR"] = "";
  CHECK(world.settings().accelerator.is_default());
  for (const std::string name : {"npu", "mps", "hpu", "mlu", "sdaa", "supa", "klxpu"}) {
    world.environment["DS_ACCELERATOR"] = name;
    CHECK(world.error().exit == Exit::unmet);
    CHECK(world.error().code == "accelerator_not_built");
  }
  world.environment["DS_ACCELERATOR"] = "cda";
  check_equal(world.error(), message(Exit::usage, "unknown_accelerator", "DS_ACCELERATOR",
                                     "'cda' is not an accelerator (did you mean 'cuda'?)",
                                     "Use cuda, cpu or xpu, or unset it."));
}

TEST_CASE("DeepSpeed's other variables keep their meaning") {
  World world;
  world.environment = {{"DS_DEBUG_CUDA_BUILD", "1"},
                       {"DS_BUILD_STRING", "+maybe"},
                       {"CFLAGS", "-I'/a b' -DX"},
                       {"LDFLAGS", "-L/opt"}};
  const Settings settings = world.settings();
  CHECK(settings.ptxas_info.value);
  CHECK(settings.build_string == Setting<std::string>{"+maybe", "DS_BUILD_STRING"});
  CHECK(settings.cflags.value == std::vector<std::string>{"-I/a b", "-DX"});
  CHECK(settings.ldflags.value == std::vector<std::string>{"-L/opt"});
  CHECK(settings.selection.variables.empty());
  world.environment["DS_DEBUG_CUDA_BUILD"] = "true";  // upstream: exactly "1"
  CHECK_FALSE(world.settings().ptxas_info.value);
}

TEST_CASE("GitHub Actions gets annotations, and only where its variable says exactly true") {
  World world;
  CHECK_FALSE(world.settings().annotations.value);
  world.environment["GITHUB_ACTIONS"] = "true";
  CHECK(world.settings().annotations == Setting<bool>{true, "GITHUB_ACTIONS"});
  world.environment["GITHUB_ACTIONS"] = "false";
  CHECK_FALSE(world.settings().annotations.value);
}

TEST_CASE("the cache folder is below XDG_CACHE_HOME where that is absolute, else below HOME") {
  World world;
  CHECK(world.settings().cache_dir == "/dev/null/dsbuild");
  world.environment["HOME"] = "/home/u";
  CHECK(world.settings().cache_dir == "/home/u/.cache/dsbuild");
  world.environment["XDG_CACHE_HOME"] = "relative";
  CHECK(world.settings().cache_dir == "/home/u/.cache/dsbuild");
  world.environment["XDG_CACHE_HOME"] = "/var/cache";
  CHECK(world.settings().cache_dir == "/var/cache/dsbuild");
}

TEST_CASE("plan -v's rows hold every setting that was given, with its origin") {
  World world;
  world.arguments["--arch"] = "8.0";
  world.arguments["--ops"] = "all,-gds";
  world.arguments["--strict"] = "yes";
  world.environment["DS_BUILD_GDS"] = "1";
  std::map<std::string, std::string> rows;
  for (const SettingRow& row : setting_rows(world.settings()))
    rows[row.name] = row.value + " (" + row.origin + ")";
  CHECK(rows["arch"] == "8.0 (--arch)");
  CHECK(rows["ops"] == "all,-gds (--ops)");
  CHECK(rows["strict"] == "yes (--strict)");
  CHECK(rows["DS_BUILD_GDS"] == "on (DS_BUILD_GDS)");
  CHECK(rows["jobs"] == "auto (default)");
}

TEST_CASE("the presets of this repository load") {
  const auto files = make_real_file_system();
  for (const std::string preset : {"ci", "dev", "docker"}) {
    Arguments arguments;
    arguments["--config"] = preset;
    const auto loaded = load_settings(arguments, {}, *files, Path(DSBUILD_TESTS_DIR) / "..");
    if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
    CHECK_FALSE(*loaded == *load_settings(Arguments{}, {}, *files, Path(DSBUILD_TESTS_DIR) / ".."));
  }
}

}  // namespace
}  // namespace dsbuild
