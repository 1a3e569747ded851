// A machine in memory for the toolkit tests: toolkits from data/cuda-*, compilers by their --version text.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "exec/cached_facts.h"
#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "toolkit/toolkit.h"

namespace dsbuild {

inline Path toolkit_data(const std::string& version) {
  return Path(DSBUILD_TESTS_DIR) / "unit/toolkit/data" / ("cuda-" + version);
}

inline std::string test_file(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("no test file " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string gcc_says(const std::string& version) {
  return "g++ (Debian " + version + "-14+deb12u1) " + version +
         "\nCopyright (C) 2022 Free Software Foundation, Inc.\n";
}
inline std::string clang_says(const std::string& version) {
  return "Debian clang version " + version + "\nTarget: x86_64-pc-linux-gnu\n";
}

inline const std::string k_machine_code =
    "\x7f"
    "ELF";

struct Machine {
  FakeFileSystem files;
  FakeProcessRunner processes;
  Settings settings;
  System system{files, processes, {{"PATH", "/usr/bin"}, {"HOME", "/home/user"}}};
  Path facts_file = "/cache/facts.json";
  bool has_cache = false;  // in which other machines find what is known here

  // What a process knows that starts now.
  struct Known {
    explicit Known(Machine& machine)
        : digests(machine.files, "/cache/digests"),
          cached(machine.files, "/cache/store", digests),
          facts(machine.files, machine.facts_file) {
      if (machine.has_cache) facts.share_with(cached);
    }
    DigestMemo digests;
    CachedFacts cached;
    FactStore facts;
  };

  // From now on this is another machine that got a copy of the cache: its files are the same by their bytes
  // alone.
  void move() {
    for (const char* known : {"/cache/facts.json", "/cache/digests"})
      if (!files.remove_all(known)) throw std::runtime_error("cannot be removed");
    for (const std::string& path : files.tree("/"))
      if (files.kind(path) == FileKind::file && !path.starts_with("/cache/"))
        files.add_file(path, files.bytes(path), files.is_executable(path));
    processes.started.clear();
  }

  Machine() {
    settings.cache_dir = "/cache";
    files.add_directory("/cache");
    files.add_directory("/usr/bin");
  }

  void add_toolkit(const Path& home, const std::string& version, const std::string& library_dir = "lib64") {
    const Path data = toolkit_data(version);
    const Path nvcc = home / "bin/nvcc";
    files.add_file(nvcc, k_machine_code + ("nvcc of CUDA " + version), true);
    files.add_file(home / "include/crt/host_config.h", test_file(data / "include/crt/host_config.h"));
    files.add_file(home / library_dir / "libcudart_static.a", "");
    set_release(home / "nvvm/bin/cicc", data);
    set_release(home / "bin/ptxas", data);
    set_headers(home / "include", version);
    processes.on({nvcc.string(), "--version"}, test_file(data / "version.txt"));
    processes.on({nvcc.string(), "--help"}, test_file(data / "help.txt"));
  }

  // A program of the toolkit whose data that is.
  void set_release(const Path& program, const Path& data) {
    files.add_file(program, k_machine_code + test_file(data / "version.txt"), true);
  }
  void set_headers(const Path& folder, const std::string& version) {
    const Version release = parse_version(version).value();
    files.add_file(
        folder / "cuda_runtime_api.h",
        "#define CUDART_VERSION  " + std::to_string(release.major() * 1000 + release.minor() * 10) + "\n");
  }

  void add_compiler(const Path& path, const std::string& says) {
    files.add_file(path, k_machine_code + ("compiler " + path.string()), true);
    processes.on({path.string(), "--version"}, says);
  }

  void set(const std::string& variable, const std::string& value) {
    system.environment[variable] = settings.variables[variable] = value;
  }

  // How often a program was asked what it is. The loader answers in its place where its libraries are asked
  // for, and alone it only shows that it is no wrapper.
  size_t questions(const std::string& program = "") const {
    return static_cast<size_t>(
        std::count_if(processes.started.begin(), processes.started.end(), [&](const Command& command) {
          const bool is_asked = !command.is_alone && command.env.count("LD_TRACE_LOADED_OBJECTS") == 0;
          return is_asked && (program.empty() || Path(command.argv.at(0)).filename() == program);
        }));
  }

  Toolkits find() {
    Known known(*this);
    Toolkits toolkits = find_toolkits(settings, system, known.facts, known.digests);
    known.facts.save();
    return toolkits;
  }
  std::vector<HostCompiler> find_compilers() {
    Known known(*this);
    auto compilers = find_host_compilers(settings, system, known.facts);
    known.facts.save();
    return compilers;
  }
};

inline std::vector<std::string> homes(const Toolkits& toolkits) {
  std::vector<std::string> all;
  for (const Toolkit& toolkit : toolkits.found)
    all.push_back(toolkit.origin + " " + toolkit.home.string());
  return all;
}

}  // namespace dsbuild
