// The compiling probes and the Python scripts against this machine's own programs.
#include <catch2/catch.hpp>

#include "requirements/requirements.h"
#include "unit/requirements/world.h"

using namespace dsbuild;

namespace {

class Machine {
 public:
  Machine() : environment(read_environment()) {
    static int count = 0;
    folder = files->absolute("requirements-test-" + std::to_string(++count));
    REQUIRE(files->remove_all(folder));
    REQUIRE(files->make_directories(folder));
    settings.cache_dir = folder / "cache";
    System system{*files, *processes, environment};
    FactStore facts(*files, folder / "compilers.json");
    for (const HostCompiler& compiler : find_host_compilers({}, system, facts)) {
      if (compiler.family == "gcc") gcc = compiler;
    }
  }
  ~Machine() { static_cast<void>(files->remove_all(folder)); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  Finding ask(const Requirement& requirement) {
    OpSpec spec;
    spec.name = "op";
    spec.backend = BackendKind::cpu;
    spec.requires_ = {requirement};
    Registry registry;
    registry.source_root = folder;
    registry.ops.emplace_back(spec);
    System system{*files, *processes, environment};
    FactStore facts(*files, folder / "facts.json");
    const auto report = check_requirements({settings,
                                            registry,
                                            nullptr,
                                            {},
                                            &gcc.value(),
                                            read_host(*files),
                                            {},
                                            find_torch({settings.python.value, system, facts})},
                                           system, facts);
    facts.save();
    return report.by_op.at("op").at(0);
  }
  void run(const std::vector<std::string>& argv) {
    const auto result = processes->run({argv, environment, folder});
    REQUIRE(result);
    INFO(result->err);
    REQUIRE(result->ok());
  }

  std::unique_ptr<FileSystem> files = make_real_file_system();
  std::unique_ptr<ProcessRunner> processes = make_real_process_runner();
  Environment environment;
  Settings settings;
  std::optional<HostCompiler> gcc;
  Path folder;
};

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

}  // namespace

TEST_CASE("The real compiler finds the C library's own headers and functions") {
  Machine machine;
  REQUIRE(machine.gcc);
  CHECK(machine.ask(need(RequirementKind::header, {"stdlib.h"})).ok);
  const Finding cosine = machine.ask(need_library("m", "cos"));
  CHECK(cosine.ok);
  CHECK(ends_with(cosine.why, ": cos links"));
  CHECK(cosine.why.rfind("/", 0) == 0);
}

TEST_CASE("Warnings that the user made errors do not fail a library") {
  Machine machine;
  machine.settings.cflags.value = {"-Wall", "-Wextra", "-Werror", "-O2"};
  CHECK(machine.ask(need_library("m", "cos")).ok);
}

TEST_CASE("The real compiler's words for what is missing are understood") {
  Machine machine;
  CHECK(machine.ask(need(RequirementKind::header, {"no/such.h"})).why == "not found: no header no/such.h");
  const Finding library = machine.ask(need_library("no_such_library", "f"));
  CHECK_FALSE(library.ok);
  CHECK(library.why.find("cannot find -lno_such_library") != std::string::npos);
  const Finding function = machine.ask(need_library("m", "no_such_function"));
  CHECK_FALSE(function.ok);
  CHECK(function.why.find("undefined reference to `no_such_function'") != std::string::npos);
  const auto folders = *machine.files->list(machine.folder / "cache/probe");
  for (const std::string& folder : folders)
    CHECK(machine.files->list(machine.folder / "cache/probe" / folder)->size() == 1);
}

TEST_CASE("A library that only LDFLAGS reach is found, and forgotten when it is gone") {
  Machine machine;
  REQUIRE(machine.files->write_file(machine.folder / "a b.c", "int our_function(void) { return 0; }\n"));
  machine.run({machine.gcc->path, "-x", "c", "-shared", "-fPIC", "a b.c", "-o", "libours.so"});
  CHECK_FALSE(machine.ask(need_library("ours", "our_function")).ok);
  machine.settings.ldflags.value = {"-L" + machine.folder.string()};
  const Finding finding = machine.ask(need_library("ours", "our_function"));
  CHECK(finding.why == (machine.folder / "libours.so").string() + ": our_function links");
  REQUIRE(machine.files->remove_all(machine.folder / "libours.so"));
  CHECK_FALSE(machine.ask(need_library("ours", "our_function")).ok);
}

TEST_CASE("A header that only CFLAGS reach is found, and forgotten when it is gone") {
  Machine machine;
  REQUIRE(machine.files->make_directories(machine.folder / "inc/deep"));
  REQUIRE(machine.files->write_file(machine.folder / "inc/deep/ours.h", "#include <stddef.h>\n"));
  CHECK_FALSE(machine.ask(need(RequirementKind::header, {"deep/ours.h"})).ok);
  machine.settings.cflags.value = {"-I" + (machine.folder / "inc").string()};
  CHECK(machine.ask(need(RequirementKind::header, {"deep/ours.h"})).why ==
        (machine.folder / "inc/deep/ours.h").string());
  REQUIRE(machine.files->remove_all(machine.folder / "inc"));
  CHECK_FALSE(machine.ask(need(RequirementKind::header, {"deep/ours.h"})).ok);
}

TEST_CASE("Python's finder finds a module of a package without importing the package") {
  Machine machine;
  if (machine.ask(need(RequirementKind::module, {"json"})).why == "no python3 on PATH") return;
  const Path package = machine.folder / "modules/explosive";
  REQUIRE(machine.files->make_directories(package));
  REQUIRE(machine.files->write_file(package / "__init__.py", "raise SystemExit(5)\n"));
  REQUIRE(machine.files->write_file(package / "inner.py", "raise SystemExit(6)\n"));
  machine.environment["PYTHONPATH"] = (machine.folder / "modules").string();
  CHECK(machine.ask(need(RequirementKind::module, {"explosive.inner"})).why ==
        "explosive.inner in " + (package / "inner.py").string());
  CHECK(machine.ask(need(RequirementKind::module, {"xml.dom.minidom"})).ok);
  CHECK(machine.ask(need(RequirementKind::module, {"sys"})).ok);
  CHECK(machine.ask(need(RequirementKind::module, {"json.no_such"})).why == "no Python module json.no_such");
  CHECK(machine.ask(need(RequirementKind::module, {"no_such.deeper.still"})).why ==
        "no Python module no_such.deeper.still");
}

TEST_CASE("Torch's version is read from Python's package data, and torch is not imported") {
  Machine machine;
  if (machine.ask(need(RequirementKind::module, {"json"})).why == "no python3 on PATH") return;
  const Path site = machine.folder / "modules";
  REQUIRE(machine.files->make_directories(site / "torch-9.8.7+cu999.dist-info"));
  REQUIRE(machine.files->make_directories(site / "torch"));
  REQUIRE(machine.files->write_file(site / "torch-9.8.7+cu999.dist-info/METADATA",
                                    "Metadata-Version: 2.1\nName: torch\nVersion: 9.8.7+cu999\n"));
  REQUIRE(machine.files->write_file(site / "torch/__init__.py", "raise SystemExit(5)\n"));
  machine.environment["PYTHONPATH"] = site.string();
  const Finding finding = machine.ask(need_version(RequirementKind::torch, ">=9.8"));
  CHECK(finding.ok);
  CHECK(finding.why == "torch 9.8.7+cu999");
}
