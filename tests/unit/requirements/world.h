// A machine in memory, on which the requirements of made-up ops are checked.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "requirements/requirements.h"

namespace dsbuild {

struct World {
  FakeFileSystem files;
  FakeProcessRunner processes;
  Environment environment{{"PATH", "/usr/bin"}, {"HOME", "/home/user"}};
  Path program;  // dsbuild itself
  Settings settings;
  Toolkit toolkit;
  HostCompiler gcc{"/usr/bin/g++", "gcc", *parse_version("12.2.0"), "PATH"};
  Host host;
  ArchSet requested;
  Registry registry;
  const Toolkit* used_toolkit = nullptr;
  const HostCompiler* used_compiler = &gcc;
  std::string compiler_identity;  // what that is made of

  World() {
    files.add_file("/usr/bin/g++", "compiler", true);
    settings.cache_dir = "/home/user/.cache/dsbuild";
    registry.source_root = "/pack";
    toolkit.home = "/usr/local/cuda";
    toolkit.version = *parse_version("13.0.88");
    host.machine = "x86_64";
    host.cpu_features = "avx avx2 fma";
  }

  OpSpec& add_op(const std::string& name, std::vector<Requirement> requirements) {
    OpSpec spec;
    spec.name = name;
    spec.requires_ = std::move(requirements);
    specs_.push_back(std::move(spec));
    return specs_.back();
  }

  RequirementReport check() {
    registry.ops.clear();
    for (const OpSpec& spec : specs_)
      registry.ops.emplace_back(spec);
    System system{files, processes, environment, program};
    settings.variables = environment;
    FactStore facts(files, "/facts.json");
    const Result<Torch> torch = asks_for_torch(registry) ? find_torch({settings.python.value, system, facts})
                                                         : fail(Exit::unmet, "python", "", "not looked for");
    RequirementReport report = check_requirements(
        {settings, registry, used_toolkit, requested, used_compiler, host, {}, torch, compiler_identity},
        system, facts);
    facts.save();
    return report;
  }

  // The finding of an op that needs just this.
  Finding ask(Requirement requirement) {
    specs_.clear();
    add_op("op", {std::move(requirement)});
    return check().by_op.at("op").at(0);
  }

 private:
  std::vector<OpSpec> specs_;
};

inline UsageRequirements given(std::vector<std::string> include_dirs, std::vector<std::string> cxx_flags,
                               std::vector<std::string> link_flags) {
  UsageRequirements usage;
  usage.include_dirs = std::move(include_dirs);
  usage.cxx_flags = std::move(cxx_flags);
  usage.link_flags = std::move(link_flags);
  return usage;
}

inline Requirement need(RequirementKind kind, std::vector<std::string> subjects) {
  Requirement requirement;
  requirement.kind = kind;
  requirement.subjects = std::move(subjects);
  return requirement;
}

inline Requirement need_version(RequirementKind kind, const std::string& range) {
  Requirement requirement;
  requirement.kind = kind;
  requirement.range.text = range;
  return requirement;
}

inline Requirement need_library(const std::string& name, const std::string& function) {
  Requirement requirement = need(RequirementKind::library, {name});
  requirement.function = function;
  return requirement;
}

}  // namespace dsbuild
