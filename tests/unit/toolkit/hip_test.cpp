#include <catch2/catch.hpp>
#include <set>

#include "arch/amd.h"
#include "base/text.h"
#include "toolkit/family.h"
#include "toolkit/tool_parts.h"
#include "unit/toolkit/machine.h"

using namespace dsbuild;

namespace {

using Homes = std::vector<std::string>;

Target target(const std::string& id) {
  return amd().parse_name(id).value();
}

std::vector<std::string> offload_archs(const Command& command) {
  constexpr std::string_view k_option = "--offload-arch=";
  std::vector<std::string> archs;
  for (const std::string& word : command.argv)
    if (word.starts_with(k_option)) archs.push_back(word.substr(k_option.size()));
  return archs;
}

// Trees like ROCm's whose clang answers as the real one of version 22 (data/clang-22).
struct HipMachine : Machine {
  std::set<std::string> without_library;  // the processors that the device libraries lack
  std::string dry_run = " \"/rocm/llvm/bin/clang\" \"-cc1\"\n";

  Path add_rocm(const Path& home, const std::string& compiler = "llvm/bin/clang++") {
    files.add_file(home / "include/hip/hip_runtime.h", "");
    files.add_file(
        home / "include/hip/hip_version.h",
        "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 3\n#define HIP_VERSION_PATCH 42134\n"
        "#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000)\n");
    files.add_file(home / "amdgcn/bitcode/ocml.bc", "");
    add_clang(home / compiler);
    return home;
  }

  void add_clang(const Path& clang) {
    files.add_file(clang, k_machine_code + ("clang " + clang.string()), true);
    processes.on({clang.string(), "--print-supported-cpus"},
                 [](const Command& command) { return answer_processors(command); });
    processes.on({clang.string(), "-###"},
                 [this](const Command& command) { return answer_dry_run(command); });
    processes.on({clang.string(), "--version"}, clang_says("22.1.8"));
    processes.on({clang.string(), "-v"},
                 FakeProcessRunner::succeeded("",
                                              "#include <...> search starts here:\n /rocm/own/include\n"
                                              "End of search list.\n"));
  }

  // As clang 19 does: it looks for a device library even to list what it knows.
  static ProcessResult answer_processors(const Command& command) {
    if (std::find(command.argv.begin(), command.argv.end(), "-nogpulib") == command.argv.end())
      return FakeProcessRunner::failed("clang++: error: cannot find ROCm device library for ; provide\n");
    return FakeProcessRunner::succeeded(
        "", test_file(Path(DSBUILD_TESTS_DIR) / "unit/toolkit/data/clang-22/supported_cpus.txt"));
  }

  // As clang does: each that it refuses is an error of its own.
  ProcessResult answer_dry_run(const Command& command) const {
    std::string errors;
    for (const std::string& arch : offload_archs(command))
      if (without_library.count(arch) > 0)
        errors += "clang++: error: cannot find ROCm device library for " + arch +
                  "; provide its path via '--rocm-path' or '--rocm-device-lib-path', or pass '-nogpulib' to "
                  "build without ROCm device library\n";
    return errors.empty() ? FakeProcessRunner::succeeded("", dry_run) : FakeProcessRunner::failed(errors);
  }

  Toolkit only_rocm() {
    const Toolkits toolkits = find();
    REQUIRE(toolkits.rejected.empty());
    REQUIRE(toolkits.found.size() == 1);
    return toolkits.found.front();
  }
};

}  // namespace

TEST_CASE("A ROCm's compiler, its targets with every choice of features and the version of its headers") {
  HipMachine machine;
  machine.add_rocm("/opt/rocm");
  machine.files.add_file("/opt/rocm/lib/libamdhip64.so", "");
  machine.add_compiler("/usr/bin/g++", gcc_says("12.2.0"));
  const Toolkit toolkit = machine.only_rocm();
  CHECK(toolkit.family == &k_hip_family);
  CHECK(toolkit.compiler() == "/opt/rocm/llvm/bin/clang++");
  CHECK(toolkit.name() == "HIP clang 22.1.8");
  CHECK(toolkit.version_code() == 2201);
  CHECK(toolkit.headers.text() == "6.3.42134");
  CHECK(toolkit.own_flags == Homes{"--rocm-path=/opt/rocm"});
  CHECK(toolkit.library_dir == "/opt/rocm/lib");
  CHECK(toolkit.host);
  for (const char* id : {"gfx803", "gfx90a", "gfx90a:sramecc+:xnack-", "gfx942", "gfx9-4-generic", "gfx1250"})
    CHECK(toolkit.targets.count(target(id)) == 1);
  CHECK(toolkit.targets.count(target("gfx940")) == 0);  // which clang 22 dropped
  CHECK(toolkit.targets == targets_of_clang(22));
}

TEST_CASE("What a clang finds no device libraries for it does not target, whatever it knows") {
  HipMachine machine;
  machine.without_library = {"gfx942", "gfx950", "gfx9-generic"};
  machine.add_rocm("/opt/rocm");
  const Toolkit toolkit = machine.only_rocm();
  CHECK(toolkit.targets.count(target("gfx942")) == 0);
  CHECK(toolkit.targets.count(target("gfx942:xnack+")) == 0);
  CHECK(toolkit.targets.count(target("gfx90a")) == 1);
}

TEST_CASE("HIP's candidates come in order of how plainly the user meant them") {
  HipMachine machine;
  machine.settings.rocm_home = {"/named", "--rocm-home"};
  machine.set("ROCM_HOME", "/by-home");
  machine.set("ROCM_PATH", "/by-path");
  machine.set("HIP_PATH", "/by-hip");
  machine.set("PATH", "/on-path/bin:/usr/bin");
  machine.set("VIRTUAL_ENV", "/venv");
  machine.files.add_file("/on-path/bin/hipcc", "#!/usr/bin/perl\n", true);
  const Path packages = "/venv/lib/python3.11/site-packages";
  for (const Path& home :
       {Path("/named"), Path("/by-home"), Path("/by-path"), Path("/by-hip"), Path("/on-path"),
        Path("/opt/rocm-6.10.0"), Path("/opt/rocm-6.3.0"), Path("/cache/toolkits/hip-22")})
    machine.add_rocm(home);
  machine.files.add_link("/opt/rocm", "/opt/rocm-6.3.0");
  machine.add_rocm(packages / "_rocm_sdk_devel", "lib/llvm/bin/clang++");
  machine.add_rocm("/usr", "lib/llvm-22/bin/clang++");
  machine.add_clang("/usr/lib/llvm-15/bin/clang++");
  CHECK(homes(machine.find()) == Homes{
                                     "--rocm-home /named",
                                     "ROCM_HOME /by-home",
                                     "ROCM_PATH /by-path",
                                     "HIP_PATH /by-hip",
                                     "PATH /on-path",
                                     "/opt /opt/rocm-6.3.0",
                                     "/opt /opt/rocm-6.10.0",
                                     "pip /venv/lib/python3.11/site-packages/_rocm_sdk_devel",
                                     "Debian /usr",
                                     "Debian /usr",
                                     "dsbuild /cache/toolkits/hip-22",
                                 });
  CHECK(machine.processes.starts("hipcc") == 0);
}

TEST_CASE("Debian's clangs are each a compiler, with device libraries that clang does not look for itself") {
  HipMachine machine;
  machine.add_rocm("/usr", "lib/llvm-15/bin/clang++");
  machine.add_clang("/usr/lib/llvm-22/bin/clang++");
  REQUIRE(machine.files.remove_all("/usr/amdgcn"));
  machine.files.add_file("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc", "");
  const Toolkits toolkits = machine.find();
  REQUIRE(toolkits.found.size() == 2);
  CHECK(toolkits.found[0].compiler() == "/usr/lib/llvm-22/bin/clang++");
  CHECK(toolkits.found[1].compiler() == "/usr/lib/llvm-15/bin/clang++");
#if defined(__x86_64__)
  CHECK(toolkits.found[0].own_flags ==
        Homes{"--rocm-path=/usr", "--rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"});
#endif
}

TEST_CASE("A clang without HIP's headers is not a HIP toolkit, and is worth a word only where it is named") {
  HipMachine machine;
  machine.add_clang("/usr/lib/llvm-22/bin/clang++");
  machine.files.add_directory("/opt/rocm");
  CHECK(machine.find().rejected.empty());
  machine.add_clang("/named/llvm/bin/clang++");
  machine.set("ROCM_PATH", "/named");
  machine.set("HIP_PATH", "/nowhere");
  const Toolkits toolkits = machine.find();
  CHECK(toolkits.found.empty());
  CHECK(toolkits.rejected ==
        std::vector<RejectedToolkit>{
            {"/named", "ROCM_PATH", "it has no include/hip/hip_runtime.h", &k_hip_family},
            {"/nowhere", "HIP_PATH", "there is no such folder", &k_hip_family}});
}

TEST_CASE("Bundles name the host as clang's own do") {
  HipMachine machine;
  machine.add_rocm("/opt/rocm");
  machine.dry_run +=
      " \"/rocm/llvm/bin/clang-offload-bundler\" \"-type=o\" "
      "\"-targets=host-x86_64-unknown-linux,hipv4-amdgcn-amd-amdhsa--gfx90a\"\n";
  CHECK(machine.only_rocm().bundle_host == "host-x86_64-unknown-linux");
  HipMachine without;
  without.add_rocm("/opt/rocm");
  CHECK(without.only_rocm().bundle_host == "host-x86_64-unknown-linux-gnu");
}

TEST_CASE("A clang that compiles for no GPU is rejected with what it says") {
  const auto [words, result, reason] = GENERATE(table<std::string, ProcessResult, std::string>(
      {{"--print-supported-cpus",
        FakeProcessRunner::failed("clang++: error: unknown target triple 'amdgcn'\n"),
        "llvm/bin/clang++ does not run for AMD's GPUs: unknown target triple 'amdgcn'"},
       {"--print-supported-cpus", FakeProcessRunner::succeeded("hello"), "llvm/bin/clang++ names no version"},
       {"--print-supported-cpus", FakeProcessRunner::out_of_time(),
        "llvm/bin/clang++ --target=amdgcn-amd-amdhsa does not end"},
       {"--print-supported-cpus", FakeProcessRunner::succeeded("clang version 22.1.8\n\tgeneric\n"),
        "llvm/bin/clang++ knows no processor of AMD's"},
       {"-###",
        FakeProcessRunner::failed(
            "clang++: error: cannot find ROCm device library for ABI version 6; provide\n"),
        "llvm/bin/clang++: cannot find ROCm device library for ABI version 6; provide"}}));
  HipMachine machine;
  machine.add_rocm("/opt/rocm");
  machine.processes.on({"/opt/rocm/llvm/bin/clang++", words}, result);
  const Toolkits toolkits = machine.find();
  CHECK(toolkits.found.empty());
  REQUIRE(toolkits.rejected.size() == 1);
  CHECK(toolkits.rejected[0].reason == reason);
}

TEST_CASE("A clang is asked once, and anew when it or its device libraries are others") {
  HipMachine machine;
  machine.without_library = {"gfx950"};
  const Path home = machine.add_rocm("/opt/rocm");
  const Toolkit first = machine.only_rocm();
  CHECK(machine.questions("clang++") == 3);  // which it is, and two rounds
  CHECK(machine.only_rocm() == first);
  CHECK(machine.questions("clang++") == 3);
  machine.files.touch(home / "llvm/bin/clang++");
  CHECK(machine.only_rocm() == first);
  CHECK(machine.questions("clang++") == 6);
  machine.without_library.clear();
  machine.files.add_file(home / "amdgcn/bitcode/oclc_isa_version_950.bc", "");
  CHECK(machine.only_rocm().targets.count(target("gfx950")) == 1);
}

TEST_CASE("A clang that is a script is asked again by those who build with it") {
  HipMachine machine;
  const Path home = machine.add_rocm("/opt/rocm");
  machine.files.add_file(home / "llvm/bin/clang++", "#!/bin/sh\n", true);
  const Toolkit toolkit = machine.only_rocm();
  FactStore facts(machine.files, machine.facts_file);
  CHECK(wrappers_answer_as_known({toolkit}, std::nullopt, machine.system, facts));
  machine.without_library = {"gfx942"};
  CHECK_FALSE(wrappers_answer_as_known({toolkit}, std::nullopt, machine.system, facts));
  CHECK(wrappers_answer_as_known({toolkit}, std::nullopt, machine.system, facts));
}

TEST_CASE("A HIP toolkit is made of what clang names, of its libraries, and of all device libraries") {
  HipMachine machine;
  const Path home = machine.add_rocm("/rocm");
  for (const char* file : {"amdgcn/bitcode/oclc_finite_only_on.bc", "amdgcn/bitcode/README",
                           "lib/libLLVM.so.22.1", "llvm/bin/clang++.cfg"})
    machine.files.add_file(home / file, file);
  machine.files.add_file("/lib/libc.so.6", "");
  for (const char* program : {"lld", "clang"})
    machine.files.add_file(home / "llvm/bin" / program, k_machine_code, true);
  machine.dry_run =
      "Configuration file: /rocm/llvm/bin/clang++.cfg\n"
      " \"/rocm/llvm/bin/clang\" \"-cc1\" \"-mlink-builtin-bitcode\" \"/rocm/amdgcn/bitcode/ocml.bc\" \"-x\" "
      "\"hip\" \"/dev/null\"\n \"/rocm/llvm/bin/lld\" \"-flavor\" \"gnu\"\n";
  machine.processes.on({"/rocm/llvm/bin/clang", "--version"}, [](const Command& command) {
    REQUIRE(command.env.count("LD_TRACE_LOADED_OBJECTS") == 1);
    return FakeProcessRunner::succeeded(
        "\tlibLLVM.so.22.1 => /rocm/lib/libLLVM.so.22.1 (0x7f)\n\tlibc.so.6 => /lib/libc.so.6 (0x7f)\n");
  });
  machine.processes.on({"/rocm/llvm/bin/lld", "--version"},
                       FakeProcessRunner::failed("not a dynamic executable"));
  machine.processes.on({"/rocm/llvm/bin/clang++", "-###", "-x", "c++"},
                       " \"/rocm/llvm/bin/clang++\" \"-cc1\"\n");
  machine.set("ROCM_HOME", "/rocm");
  const Toolkit toolkit = machine.only_rocm();
  FactStore facts(machine.files, machine.facts_file);
  DigestMemo digests(machine.files, "/digests");
  HostCompilerParts hosts;
  const auto parts = parts_of_toolkit(toolkit, hosts, machine.system, facts, digests);
  REQUIRE(parts);
  std::vector<std::string> names;
  for (const std::string& line : split_lines(parts->text))
    names.push_back(split(line, " ")[1]);
  CHECK(names == Homes{"/rocm/amdgcn/bitcode/oclc_finite_only_on.bc", "/rocm/amdgcn/bitcode/ocml.bc",
                       "/rocm/llvm/bin/clang", "/rocm/llvm/bin/clang++", "/rocm/llvm/bin/clang++.cfg",
                       "/rocm/llvm/bin/lld", "/lib/libc.so.6", "/rocm/lib/libLLVM.so.22.1"});
  CHECK(parts->folders == Homes{"/rocm/own/include"});
}

TEST_CASE("A demand of AMD's takes HIP's toolkits and no other, and says how to get one") {
  HipMachine machine;
  machine.add_toolkit("/usr/local/cuda", "13.0");
  machine.add_compiler("/usr/bin/g++", gcc_says("12.2.0"));
  ToolkitDemand demand;
  demand.vendor = &amd();
  demand.request = parse_arch_list("gfx942", "--arch").value();
  demand.kept = demand.request.targets;
  const auto none = choose_toolkit(machine.settings, machine.find(), demand, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().exit == Exit::unmet);
  CHECK(none.error().code == "no_toolkit");
  CHECK(none.error().what == "no HIP toolkit was found on this machine");
  CHECK(none.error().fix ==
        "dsbuild toolkits get hip   (fetches HIP with clang 22 into your cache folder)\n"
        "or pass --rocm-home DIR with the folder that holds llvm/bin/clang++");
  CHECK(advise_toolkit(machine.settings, machine.find(), demand, {}, true) ==
        ToolkitAdvice{ToolkitAdvice::Kind::get, "hip"});

  machine.without_library = {"gfx942"};
  machine.add_rocm("/opt/rocm");
  const auto lacking = choose_toolkit(machine.settings, machine.find(), demand, {});
  REQUIRE_FALSE(lacking);
  CHECK(lacking.error().code == "toolkit_lacks_archs");
  CHECK(lacking.error().what == "no installed HIP toolkit can target all of gfx942");
  CHECK(split_lines(lacking.error().fix).front() == "HIP clang 22.1.8 (/opt/rocm) lacks gfx942");

  machine.without_library.clear();
  machine.files.touch("/opt/rocm/llvm/bin/clang++");
  const auto chosen = choose_toolkit(machine.settings, machine.find(), demand, {});
  REQUIRE(chosen);
  CHECK(chosen->toolkit.home == "/opt/rocm");
  demand.vendor = nullptr;
  demand.request = parse_arch_list("8.0", "--arch").value();
  demand.kept = demand.request.targets;
  CHECK(choose_toolkit(machine.settings, machine.find(), demand, {})->toolkit.home == "/usr/local/cuda");
}

TEST_CASE("--rocm-home is a demand, ROCM_HOME a preference") {
  HipMachine machine;
  machine.add_rocm("/opt/rocm");
  machine.add_compiler("/usr/bin/g++", gcc_says("12.2.0"));
  ToolkitDemand demand;
  demand.vendor = &amd();
  demand.request = parse_arch_list("gfx942", "--arch").value();
  machine.set("ROCM_HOME", "/nowhere");
  const auto other = choose_toolkit(machine.settings, machine.find(), demand, {});
  REQUIRE(other);
  REQUIRE(other->warnings.size() == 1);
  CHECK(other->warnings[0].code == "other_toolkit");
  CHECK(other->warnings[0].what ==
        "/nowhere is not a HIP toolkit: there is no such folder; HIP clang 22.1.8 "
        "(/opt/rocm) is used");
  CHECK(other->warnings[0].fix == "pass --rocm-home to demand a toolkit");
  machine.settings.rocm_home = {"/nowhere", "--rocm-home"};
  const auto none = choose_toolkit(machine.settings, machine.find(), demand, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().where == "--rocm-home");
  CHECK(none.error().what == "/nowhere is not a HIP toolkit: there is no such folder");
}
