#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "base/text.h"
#include "toolkit/toolkit.h"
#include "unit/arch/real_targets.h"
#include "unit/toolkit/machine.h"

using namespace dsbuild;

namespace {

using Homes = std::vector<std::string>;

const Toolkit& only(const Toolkits& toolkits) {
  REQUIRE(toolkits.found.size() == 1);
  return toolkits.found.front();
}

}  // namespace

TEST_CASE("A toolkit's version, targets, options, bounds and compiler are found") {
  const auto [version, code, gcc] = GENERATE(table<std::string, int, int>(
      {{"11.8", 1108, 11}, {"12.4", 1204, 13}, {"12.8", 1208, 14}, {"12.9", 1209, 14}, {"13.0", 1300, 15}}));
  CAPTURE(version);
  Machine machine;
  machine.add_toolkit("/usr/local/cuda", version);
  machine.add_compiler("/usr/bin/g++", gcc_says("15.1.0"));
  machine.add_compiler("/usr/bin/g++-" + std::to_string(gcc), gcc_says(std::to_string(gcc) + ".1.0"));
  const Toolkits toolkits = machine.find();
  const Toolkit& toolkit = only(toolkits);
  CHECK(toolkit.version_code() == code);
  CHECK(toolkit.version.parts.size() == 3);
  CHECK(target_names(toolkit.targets) == target_names(load_real_targets().at(code)));
  CHECK(toolkit.has_option("--generate-code"));
  CHECK(toolkit.has_option("--compress-mode") == (code >= 1208));
  CHECK(toolkit.has_option("--frandom-seed") == (code == 1300));
  CHECK(toolkit.bounds.gcc_max == gcc);
  REQUIRE(toolkit.host);
  CHECK(toolkit.host->version.major() == gcc);
  CHECK(toolkit.library_dir == "/usr/local/cuda/lib64");
  CHECK(toolkit.compiler_digest.size() == 64);
}

TEST_CASE("Candidates come in order of how plainly the user meant them") {
  Machine machine;
  machine.settings.cuda_home = {"/named", "--cuda-home"};
  machine.set("CUDA_HOME", "/by-home");
  machine.set("CUDA_PATH", "/by-path-variable");
  machine.set("PATH", "/on-path/bin:/usr/bin");
  machine.set("CONDA_PREFIX", "/conda");
  machine.set("VIRTUAL_ENV", "/venv");
  for (const char* home :
       {"/named", "/by-home", "/by-path-variable", "/on-path", "/usr/local/cuda", "/usr/local/cuda-9.2",
        "/usr/local/cuda-12.4", "/usr", "/conda", "/venv/lib/python3.11/site-packages/nvidia/cu13",
        "/cache/toolkits/11.8", "/cache/toolkits/13.5/nvidia/cu13"}) {
    machine.add_toolkit(home, "12.4");
  }
  machine.files.add_directory("/usr/lib/nvidia-cuda-toolkit");
  machine.files.add_directory("/venv/lib/python3.11/site-packages/nvidia/cublas");
  CHECK(homes(machine.find()) == Homes{
                                     "--cuda-home /named",
                                     "CUDA_HOME /by-home",
                                     "CUDA_PATH /by-path-variable",
                                     "PATH /on-path",
                                     "/usr/local /usr/local/cuda",
                                     "/usr/local /usr/local/cuda-12.4",
                                     "/usr/local /usr/local/cuda-9.2",
                                     "Debian /usr",
                                     "conda /conda",
                                     "pip /venv/lib/python3.11/site-packages/nvidia/cu13",
                                     "dsbuild /cache/toolkits/13.5/nvidia/cu13",
                                     "dsbuild /cache/toolkits/11.8",
                                 });
}

TEST_CASE("A toolkit that is reached by several ways is listed once, by its real path") {
  Machine machine;
  machine.add_toolkit("/usr/local/cuda-13.0", "13.0");
  machine.files.add_link("/usr/local/cuda", "/usr/local/cuda-13.0");
  machine.files.add_link("/usr/bin/nvcc", "/usr/local/cuda/bin/nvcc");
  machine.set("CUDA_HOME", "/usr/local/cuda/");
  CHECK(homes(machine.find()) == Homes{"CUDA_HOME /usr/local/cuda-13.0"});
  CHECK(machine.questions("nvcc") == 2);
}

TEST_CASE("pip's toolkit of the python3 on PATH is found without starting Python") {
  Machine machine;
  machine.files.add_file("/opt/python/bin/python3.12", "", true);
  machine.files.add_link("/project/env/bin/python3", "/opt/python/bin/python3.12");
  machine.set("PATH", "/project/env/bin:/usr/bin");
  machine.add_toolkit("/opt/python/lib/python3.12/site-packages/nvidia/cu13", "13.0", "lib");
  machine.add_toolkit("/project/env/lib/python3.12/site-packages/nvidia/cu13", "13.0", "lib");
  const Toolkits toolkits = machine.find();
  CHECK(homes(toolkits) == Homes{"pip /project/env/lib/python3.12/site-packages/nvidia/cu13",
                                 "pip /opt/python/lib/python3.12/site-packages/nvidia/cu13"});
  CHECK(machine.processes.starts("python3") == 0);
  CHECK(toolkits.found[0].library_dir == toolkits.found[0].home / "lib");
}

TEST_CASE("At most two questions per toolkit, none for an unchanged one") {
  Machine machine;
  machine.add_toolkit("/usr/local/cuda-13.0", "13.0");
  machine.add_toolkit("/usr/local/cuda-11.8", "11.8");
  machine.add_compiler("/usr/bin/g++", gcc_says("11.4.0"));
  const Toolkits first = machine.find();
  CHECK(machine.questions("nvcc") == 4);
  CHECK(machine.find() == first);
  CHECK(machine.questions() == 5);
}

TEST_CASE("An nvcc that was replaced is asked again") {
  Machine machine;
  machine.add_toolkit("/usr/local/cuda", "12.4");
  CHECK(only(machine.find()).version.short_text() == "12.4");
  machine.add_toolkit("/usr/local/cuda", "12.9");
  CHECK(only(machine.find()).version.short_text() == "12.9");
  CHECK(machine.questions("nvcc") == 4);
}

TEST_CASE("Each nvcc runs with its own bin folder first in PATH, with CPATH and without the caller's flags") {
  Machine machine;
  machine.set("NVCC_APPEND_FLAGS", "-arch=sm_80");
  machine.set("CPATH", "/usr/local/include");
  machine.add_toolkit("/usr/local/cuda", "11.8");
  machine.find();
  for (const Command& command : machine.processes.started) {
    const bool shows_itself = command.is_alone || command.env.count("LD_TRACE_LOADED_OBJECTS") == 1;
    CHECK(command.env.at("PATH") == (shows_itself ? "/usr/bin" : "/usr/local/cuda/bin:/usr/bin"));
    CHECK(command.env.count("NVCC_APPEND_FLAGS") == 0);
    CHECK(command.env.at("CPATH") == "/usr/local/include");
  }
}

TEST_CASE("A folder that the user named and that is no toolkit is rejected with the reason") {
  Machine machine;
  machine.settings.cuda_home = {"/nowhere", "--cuda-home"};
  machine.files.add_directory("/empty/bin");
  machine.set("CUDA_HOME", "/empty");
  machine.files.add_directory("/conda");
  machine.set("CONDA_PREFIX", "/conda");
  const Toolkits toolkits = machine.find();
  CHECK(toolkits.found.empty());
  CHECK(toolkits.rejected ==
        std::vector<RejectedToolkit>{{"/nowhere", "--cuda-home", "there is no such folder"},
                                     {"/empty", "CUDA_HOME", "it has no bin/nvcc"}});
}

TEST_CASE("An nvcc that cannot be used is rejected with the reason, and asked again the next time") {
  Machine machine;
  const auto [result, reason] = GENERATE(table<ProcessResult, std::string>({
      {FakeProcessRunner::failed("nvcc: cannot execute\nmore", 126),
       "bin/nvcc does not run: nvcc: cannot execute"},
      {FakeProcessRunner::failed("", 139), "bin/nvcc does not run: exit code 139"},
      {FakeProcessRunner::out_of_time(), "bin/nvcc --version does not end"},
      {FakeProcessRunner::succeeded("hello\n"), "bin/nvcc --version names no release"},
  }));
  machine.add_toolkit("/usr/local/cuda", "12.4");
  machine.processes.on({"/usr/local/cuda/bin/nvcc", "--version"}, result);
  const Toolkits toolkits = machine.find();
  CHECK(toolkits.found.empty());
  REQUIRE(toolkits.rejected.size() == 1);
  CHECK(toolkits.rejected[0].reason == reason);
  machine.find();
  CHECK(machine.questions("nvcc") == 2);
}

TEST_CASE("An nvcc whose help lists no target is rejected") {
  Machine machine;
  machine.add_toolkit("/usr/local/cuda", "12.4");
  machine.processes.on({"/usr/local/cuda/bin/nvcc", "--help"}, "--gpu-code\n  'sm_80' is an example.\n");
  REQUIRE(machine.find().rejected.size() == 1);
  CHECK(machine.find().rejected[0].reason == "nvcc --help lists no gpu code");
}

// nvcc's help mentions other targets in its examples and for other options.
TEST_CASE("Targets are the allowed values of --gpu-code, nothing else in the help") {
  Machine machine;
  machine.add_toolkit("/usr/local/cuda", "12.4");
  machine.processes.on({"/usr/local/cuda/bin/nvcc", "--help"},
                       "--gpu-architecture <arch>   (-arch)\n"
                       "        Allowed values for this option:  'all','compute_50','sm_50'.\n\n"
                       "--gpu-code <code>,...   (-code)\n"
                       "        An example is 'sm_60', or the virtual 'compute_60'.\n"
                       "        Allowed values for this option:  'compute_80','lto_80',\n"
                       "        'sm_80','sm_90a'.\n\n"
                       "--threads <number>   (-t)\n"
                       "        Not for 'sm_70'.\n");
  const Toolkits toolkits = machine.find();
  CHECK(target_names(only(toolkits).targets) == "sm_80 compute_80 sm_90a");
  CHECK(only(toolkits).options == std::set<std::string>{"--gpu-architecture", "--gpu-code", "--threads"});
}

TEST_CASE("The static runtime is found in each known layout, and missing it rejects") {
  Machine machine;
  const std::string folder =
      GENERATE("lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu", "somewhere");
  machine.add_toolkit("/usr/local/cuda", "12.4", folder);
  const Toolkits toolkits = machine.find();
  if (folder == "somewhere") {
    REQUIRE(toolkits.rejected.size() == 1);
    CHECK(toolkits.rejected[0].reason == "it has no libcudart_static.a (nvcc without its libraries)");
  } else {
    CHECK(only(toolkits).library_dir == Path("/usr/local/cuda") / folder);
  }
}

TEST_CASE("Damaged facts are as good as none") {
  Machine machine;
  machine.add_toolkit("/usr/local/cuda", "12.4");
  const Toolkits first = machine.find();
  FactStore facts(machine.files, machine.facts_file);
  const Path nvcc = "/usr/local/cuda/bin/nvcc";
  facts.put("nvcc " + nvcc.string(), machine.files.identity(nvcc)->text(), "12.4\n\n");
  facts.save();
  CHECK(machine.find() == first);
  CHECK(machine.questions("nvcc") == 4);
}

TEST_CASE("A tool sees its toolkit, HOME, libraries and what compilers read of the caller's environment") {
  Machine machine;
  Toolkit toolkit;
  toolkit.home = "/cuda";
  machine.system.environment = {
      {"PATH", "/usr/bin"}, {"HOME", "/home/user"},   {"LD_LIBRARY_PATH", "/gcc/lib"},
      {"CPATH", "/x"},      {"NVCC_CCBIN", "/bin/x"}, {"LANG", "de_DE.UTF-8"}};
  CHECK(tool_environment(machine.system, &toolkit) == Environment{{"CPATH", "/x"},
                                                                  {"PATH", "/cuda/bin:/usr/bin"},
                                                                  {"HOME", "/home/user"},
                                                                  {"LD_LIBRARY_PATH", "/gcc/lib"},
                                                                  {"LC_ALL", "C"},
                                                                  {"TMPDIR", "tmp"}});
  CHECK(tool_environment(machine.system, nullptr).at("PATH") == "/usr/bin");
  machine.system.environment.clear();
  CHECK_FALSE(tool_environment(machine.system, nullptr).at("PATH").empty());
}

TEST_CASE("Variables of a closed list are handed on, and those that are asked for") {
  Machine machine;
  machine.system.environment = {{"C_INCLUDE_PATH", "/c:inc:"},
                                {"CPLUS_INCLUDE_PATH", "inc"},
                                {"LIBRARY_PATH", ":/lib"},
                                {"COMPILER_PATH", "/bin"},
                                {"GCC_EXEC_PREFIX", "/gcc/"},
                                {"SOURCE_DATE_EPOCH", "1"},
                                {"SPACK_CC", "cc"},
                                {"NIX_CFLAGS", "-O1"},
                                {"CCACHE_DIR", "/c"},
                                {"CCACHED", "x"},
                                {"GCC_COLORS", "x"},
                                {"SITE", "x"},
                                {"SITE_FLAGS", "-g"},
                                {"OWN", "1"}};
  Environment expected = {{"C_INCLUDE_PATH", "/c"},     {"LIBRARY_PATH", "/lib"},   {"COMPILER_PATH", "/bin"},
                          {"GCC_EXEC_PREFIX", "/gcc/"}, {"SOURCE_DATE_EPOCH", "1"}, {"SPACK_CC", "cc"},
                          {"NIX_CFLAGS", "-O1"},        {"CCACHE_DIR", "/c"}};
  CHECK(handed_on_variables(machine.system) == expected);
  machine.system.tools.passed = {"SITE_*", "OWN", "PATH"};
  expected.insert({{"SITE_FLAGS", "-g"}, {"OWN", "1"}});
  CHECK(handed_on_variables(machine.system) == expected);
  const std::string text = text_of_variables(machine.system);
  CHECK(text.find(" variable SITE_FLAGS\n") != std::string::npos);
  machine.system.environment["SITE_FLAGS"] = "-g1";
  CHECK(text_of_variables(machine.system) != text);
}

TEST_CASE("A variable that is asked for does not take the place of what tools get anyway") {
  Machine machine;
  machine.system.environment = {{"PATH", "/usr/bin"}, {"TMPDIR", "/elsewhere"}, {"LC_ALL", "de_DE.UTF-8"}};
  machine.system.tools.passed = {"TMPDIR", "LC_*"};
  CHECK(tool_environment(machine.system, nullptr) ==
        Environment{{"PATH", "/usr/bin"}, {"TMPDIR", "tmp"}, {"LC_ALL", "C"}});
}

TEST_CASE("Tools are asked where they will work, or in the nearest folder above that is there") {
  Machine machine;
  CHECK(asking_folder(machine.system).empty());
  machine.files.add_directory("/project");
  machine.system.tools.folder = "/project/a/b";
  CHECK(asking_folder(machine.system) == "/project");
  machine.files.add_directory("/project/a/b");
  CHECK(asking_folder(machine.system) == "/project/a/b");
}

TEST_CASE(
    "Of LD_LIBRARY_PATH tools see the absolute folders: others are others in each folder that they run in") {
  const auto [list, seen] = GENERATE(table<std::string, std::string>(
      {{"/a:/b", "/a:/b"}, {":/a:", "/a"}, {"lib:/a;/b:../c", "/a:/b"}, {"", ""}, {":", ""}, {"lib", ""}}));
  Machine machine;
  machine.system.environment = {{"LD_LIBRARY_PATH", list}};
  const Environment environment = tool_environment(machine.system, nullptr);
  CHECK(variable(environment, "LD_LIBRARY_PATH") == seen);
  CHECK(environment.count("LD_LIBRARY_PATH") == !seen.empty());
}

TEST_CASE("GPUs are what nvidia-smi lists, lowest first") {
  Machine machine;
  CHECK(find_gpus(machine.system).empty());
  machine.processes.on(
      {"nvidia-smi", "--query-gpu=compute_cap,driver_version,name"},
      "9.0, 580.65.06, NVIDIA H100 80GB HBM3\n[N/A], 580.65.06, Old\n8.6, 580.65.06, NVIDIA A40\n"
      "9.0, 580.65.06, NVIDIA H200\n");
  const std::vector<Gpu> found = find_gpus(machine.system);
  CHECK(found == std::vector<Gpu>{{NvidiaTarget{{8, 6}}, "NVIDIA A40", "580.65.06"},
                                  {NvidiaTarget{{9, 0}}, "NVIDIA H100 80GB HBM3", "580.65.06"},
                                  {NvidiaTarget{{9, 0}}, "NVIDIA H200", "580.65.06"}});
  CHECK(archs_of_gpus(found) == std::vector<Target>{NvidiaTarget{{8, 6}}, NvidiaTarget{{9, 0}}});
  machine.processes.on({"nvidia-smi"}, FakeProcessRunner::failed("NVIDIA-SMI has failed", 9));
  CHECK(find_gpus(machine.system).empty());
}
