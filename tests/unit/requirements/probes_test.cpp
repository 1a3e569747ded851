// Probes that start no process, and those that ask Python.
#include <algorithm>
#include <catch2/catch.hpp>

#include "unit/requirements/world.h"

using namespace dsbuild;

namespace {

Requirement need_folder(const std::string& folder, const std::string& in) {
  Requirement requirement = need(RequirementKind::folder, {folder});
  requirement.in = in;
  return requirement;
}

// A Python that answers with facts, as the script that asks it prints them.
void add_python(World& world, const std::string& facts) {
  world.files.add_file("/usr/bin/python3", "", true);
  world.processes.on({"python3", "-c"}, facts + "\n/usr/bin/python3\n");
}

}  // namespace

TEST_CASE("A cuda requirement is met by a toolkit whose version is in range") {
  World world;
  world.used_toolkit = &world.toolkit;
  const Finding finding = world.ask(need_version(RequirementKind::cuda, ">=11.0"));
  CHECK(finding.ok);
  CHECK(finding.why == "CUDA 13.0.88 in /usr/local/cuda");
  CHECK(finding.version == "13.0.88");
  CHECK(finding.fix.empty());
}

TEST_CASE("A cuda requirement fails for another version, saying which was found") {
  World world;
  world.used_toolkit = &world.toolkit;
  const Finding finding = world.ask(need_version(RequirementKind::cuda, "<12"));
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == "CUDA 13.0.88 in /usr/local/cuda is not <12");
  CHECK(finding.fix == "install a CUDA toolkit <12, or name one with --cuda-home");
}

TEST_CASE("A cuda requirement fails without a toolkit") {
  World world;
  const Finding finding = world.ask(need_version(RequirementKind::cuda, ">=11.0"));
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == "no CUDA toolkit");
}

TEST_CASE("One of several commands on PATH is enough, and none is started") {
  World world;
  world.files.add_file("/usr/bin/b", "", true);
  const Finding finding = world.ask(need(RequirementKind::command, {"a", "b"}));
  CHECK(finding.ok);
  CHECK(finding.why == "/usr/bin/b");
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("A command requirement names every command that is not on PATH") {
  World world;
  world.files.add_file("/opt/bin/a", "", true);
  CHECK(world.ask(need(RequirementKind::command, {"a", "b"})).why == "not on PATH: a, b");
  world.environment.clear();
  CHECK_FALSE(world.ask(need(RequirementKind::command, {"a"})).ok);
}

TEST_CASE("A cpu feature is a whole word of the CPU's list") {
  World world;
  CHECK(world.ask(need(RequirementKind::cpu_feature, {"avx2"})).ok);
  const Finding finding = world.ask(need(RequirementKind::cpu_feature, {"av"}));
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == "this CPU (x86_64) lacks av");
}

TEST_CASE("A cpu feature cannot be met where the list is not known") {
  World world;
  world.host.cpu_features = "";
  CHECK(world.ask(need(RequirementKind::cpu_feature, {"avx2"})).why ==
        "the features of this CPU are not known");
}

TEST_CASE("A module that Python finds is met, and Python is asked once while it stays the same") {
  World world;
  world.files.add_file("/usr/bin/python3", "", true);
  world.files.add_file("/lib/triton/__init__.py", "");
  world.processes.on({"python3", "triton"}, "/lib/triton/__init__.py\n/lib/triton/__init__.py\n");
  const Finding finding = world.ask(need(RequirementKind::module, {"triton"}));
  CHECK(finding.ok);
  CHECK(finding.why == "triton in /lib/triton/__init__.py");
  CHECK(world.ask(need(RequirementKind::module, {"triton"})).why == finding.why);
  CHECK(world.processes.starts() == 1);
  CHECK(world.processes.started[0].cwd == "/");

  world.environment["PYTHONPATH"] = "/elsewhere";
  world.ask(need(RequirementKind::module, {"triton"}));
  CHECK(world.processes.starts() == 2);
  world.files.touch("/lib/triton/__init__.py");
  world.ask(need(RequirementKind::module, {"triton"}));
  CHECK(world.processes.starts() == 3);
}

TEST_CASE("A module that is not there is asked for again in every run") {
  World world;
  world.files.add_file("/usr/bin/python3", "", true);
  world.processes.on({"python3", "triton"}, ProcessResult{1, false, "no Python module triton\n", ""});
  for (size_t run = 1; run <= 2; ++run) {
    const Finding finding = world.ask(need(RequirementKind::module, {"triton"}));
    CHECK_FALSE(finding.ok);
    CHECK(finding.why == "no Python module triton");
    CHECK(world.processes.starts() == run);
  }
}

TEST_CASE("A Python that is absent, cannot start, fails or hangs is a reason, not an abort") {
  World world;
  const Requirement module = need(RequirementKind::module, {"triton"});
  CHECK(world.ask(module).why == "no python3 on PATH");
  world.files.add_file("/usr/bin/python3", "", true);
  CHECK(world.ask(module).why ==
        "python3 could not be started: cannot be started: No such file or directory");
  world.processes.on({"python3"}, FakeProcessRunner::failed("Traceback\nImportError: broken\n"));
  CHECK(world.ask(module).why == "python3 failed: ImportError: broken");
  world.processes.on({"python3"}, FakeProcessRunner::failed("", 139));
  CHECK(world.ask(module).why == "python3 failed: exit 139");
  world.processes.on({"python3"}, FakeProcessRunner::out_of_time());
  CHECK(world.ask(module).why == "python3 ran for too long");
  world.processes.on({"python3"}, "");
  CHECK_FALSE(world.ask(module).ok);
}

TEST_CASE("A source with the text of a known fault is named with its line, and any other text is met") {
  World world;
  Requirement source = need(RequirementKind::source, {"csrc/a.cu"});
  source.lacks = "int q = 1;";
  source.because = "q is there twice";
  world.files.add_file("/pack/csrc/a.cu", "int p;\n\n  int q = 1;\nint q = 1;\n");
  const Finding finding = world.ask(source);
  CHECK_FALSE(finding.ok);
  CHECK(finding.why == "csrc/a.cu:3: q is there twice");
  CHECK(finding.fix == "build from sources in which that is mended (--source), or leave the op out");
  world.files.add_file("/pack/csrc/a.cu", "int q  = 1;\n");
  CHECK(world.ask(source).ok);
  world.files.add_file("/pack/csrc/a.cu", "");
  CHECK(world.ask(source).ok);
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("Two faults of one source are two questions") {
  World world;
  world.files.add_file("/pack/a.cu", "one");
  Requirement one = need(RequirementKind::source, {"a.cu"}), two = one;
  one.lacks = "one";
  two.lacks = "two";
  world.add_op("op", {one, two});
  const std::vector<Finding> findings = world.check().by_op.at("op");
  CHECK_FALSE(findings[0].ok);
  CHECK(findings[1].ok);
}

TEST_CASE("A torch requirement compares the installed version, local part left out") {
  World world;
  world.files.add_file("/usr/bin/python3", "", true);
  world.processes.on({"python3", "torch"}, "torch=2.8.0+cu128\thome=/site/torch\n/site/torch/version.py\n");
  const Finding finding = world.ask(need_version(RequirementKind::torch, ">=2.4"));
  CHECK(finding.ok);
  CHECK(finding.version == "2.8.0");
  CHECK(world.ask(need_version(RequirementKind::torch, ">=2.9")).why == "torch 2.8.0+cu128 is not >=2.9");
  world.processes.on({"python3", "torch"}, "torch=unknown\n\n");
  CHECK(world.ask(need_version(RequirementKind::torch, ">=2.4")).why ==
        "torch has no version that can be read: 'unknown'");
  world.processes.on({"python3", "torch"}, ProcessResult{1, false, "no Python package torch\n", ""});
  CHECK(world.ask(need_version(RequirementKind::torch, ">=2.4")).why == "no Python package torch");
}

TEST_CASE(
    "A folder of a Python package gives it, under the package's name, from the first place that has it") {
  World world;
  world.environment["VIRTUAL_ENV"] = "/venv";
  const Path first = "/venv/lib/python3.12/site-packages", second = "/usr/lib/python3/dist-packages";
  world.files.add_file(first / "numpy/__init__.py", "");
  for (const Path& packages : {second, first}) {
    world.files.add_directory(packages / "numpy/_core/include");
    const Finding finding = world.ask(need_folder("numpy/_core/include", "packages"));
    CHECK(finding.ok);
    CHECK(finding.subject == "folder numpy/_core/include in packages");
    CHECK(finding.why == packages / "numpy/_core/include");
    UsageRequirements usage = given({packages / "numpy/_core/include"}, {}, {});
    usage.roots = {{"numpy", packages / "numpy"}};
    CHECK(finding.usage == usage);
  }
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("A folder of a package is looked for in the packages of a named Python before all others") {
  World world;
  world.files.add_file("/other/bin/python3", "", true);
  const Path mine = "/home/user/.local/lib/python3.13/site-packages/numpy/include",
             named = "/other/lib/python3.11/site-packages/numpy/include";
  world.files.add_directory(mine);
  world.files.add_directory(named);
  const Requirement folder = need_folder("numpy/include", "packages");
  CHECK(world.ask(folder).why == mine);
  world.settings.python = {"/other/bin/python3", "--python"};
  CHECK(world.ask(folder).why == named);
  CHECK(world.files.remove_all(named));
  CHECK(world.ask(folder).why == mine);
}

TEST_CASE("A folder that no Python package has is unmet, saying where it was looked for") {
  World world;
  const Requirement folder = need_folder("numpy/include", "packages");
  CHECK(world.ask(folder).why == "not found: no folder numpy/include: this Python has no folder of packages");
  world.files.add_file("/usr/lib/python3/dist-packages/numpy/include", "a file");
  world.files.add_directory("/usr/local/lib/python3.11/dist-packages");
  const Finding finding = world.ask(folder);
  CHECK_FALSE(finding.ok);
  CHECK(finding.why ==
        "not found: no folder numpy/include in /usr/local/lib/python3.11/dist-packages, "
        "/usr/lib/python3/dist-packages");
  CHECK(finding.fix ==
        "install what has its headers in numpy/include for the Python in use, or name another with --python");
  CHECK(finding.usage == UsageRequirements{});
}

TEST_CASE("A folder below Python's prefix is found where that Python says, which is asked once") {
  World world;
  add_python(world, "version=3.11.7\tprefix=/env");
  const Requirement folder = need_folder("include", "python");
  CHECK(world.ask(folder).why == "not found: no folder include in /env");
  world.files.add_directory("/env/include");
  const Finding finding = world.ask(folder);
  CHECK(finding.ok);
  CHECK(finding.subject == "folder include in python");
  UsageRequirements usage = given({"/env/include"}, {}, {});
  usage.roots = {{"python_prefix", "/env"}};
  CHECK(finding.usage == usage);
  CHECK(world.processes.starts() == 1);
}

TEST_CASE("A Python that does not say its prefix is a reason, not an abort") {
  World world;
  world.files.add_directory("/project/include");
  const Requirement folder = need_folder("include", "python");
  CHECK(world.ask(folder).why == "no python3 on PATH");
  add_python(world, "version=3.11.7");
  CHECK(world.ask(folder).why == "python3 does not say its sys.prefix");
}

TEST_CASE("What torch's Python said of its prefix is not asked again") {
  World world;
  world.files.add_file("/usr/bin/python3", "", true);
  world.files.add_directory("/env/include");
  world.processes.on({"python3", "torch"}, "torch=2.8.0\tprefix=/env\n\n");
  world.add_op("op", {need_version(RequirementKind::torch, ">=2.0"), need_folder("include", "python")});
  CHECK(world.check().by_op.at("op").at(1).why == "/env/include");
  CHECK(world.processes.starts() == 1);
}

TEST_CASE("An absolute folder has a name by its path") {
  World world;
  const Finding missing = world.ask(need_folder("/opt/site/include", ""));
  CHECK_FALSE(missing.ok);
  CHECK(missing.why == "not found: no folder /opt/site/include");
  CHECK(missing.fix == "install what has its headers in /opt/site/include");
  world.files.add_directory("/opt/site/include");
  const Finding finding = world.ask(need_folder("/opt/site/include", ""));
  CHECK(finding.ok);
  CHECK(finding.subject == "folder /opt/site/include");
  UsageRequirements usage = given({"/opt/site/include"}, {}, {});
  usage.roots = {{"folder_482b388b", "/opt/site/include"}};
  CHECK(finding.usage == usage);
  CHECK(world.processes.starts() == 0);
}

TEST_CASE("The compiler's own folders are met and give nothing, by whatever path") {
  World world;
  add_python(world, "prefix=/usr/local");
  world.files.add_directory("/usr/include/site");
  world.files.add_directory("/usr/local/include");
  world.files.add_link("/opt/headers", "/usr/include");
  for (const Requirement& folder : {need_folder("/usr/include", ""), need_folder("/usr/local/include", ""),
                                    need_folder("/opt/headers", ""), need_folder("include", "python")}) {
    const Finding finding = world.ask(folder);
    CHECK(finding.ok);
    CHECK(finding.usage == UsageRequirements{});
  }
  CHECK(world.ask(need_folder("/usr/include/site", "")).usage.include_dirs ==
        std::vector<std::string>{"/usr/include/site"});
}

TEST_CASE("Folders are given in the order of the requirements, and the same path in two places is two") {
  World world;
  add_python(world, "prefix=/usr");
  world.files.add_directory("/usr/share/b");
  world.files.add_directory("/usr/lib/python3/dist-packages/share/b");
  world.files.add_directory("/a");
  world.add_op("op",
               {need_folder("share/b", "python"), need_folder("/a", ""), need_folder("share/b", "packages")});
  const RequirementReport report = world.check();
  std::vector<std::string> dirs;
  for (const Finding& finding : report.by_op.at("op"))
    dirs.insert(dirs.end(), finding.usage.include_dirs.begin(), finding.usage.include_dirs.end());
  CHECK(dirs == std::vector<std::string>{"/usr/share/b", "/a", "/usr/lib/python3/dist-packages/share/b"});
}

TEST_CASE("A header may lie in a folder that the op requires, wherever in the list that stands") {
  World world;
  world.files.add_directory("/opt/site/include");
  world.files.add_directory("/opt/late/include");
  world.processes.on({"g++"}, "");
  world.add_op("op", {need_folder("/opt/site/include", ""), need(RequirementKind::header, {"site.h"}),
                      need_folder("/opt/late/include", "")});
  world.add_op("other", {need(RequirementKind::header, {"site.h"})});
  world.check();
  REQUIRE(world.processes.starts("g++") == 2);
  const auto has = [&](size_t start, const std::string& word) {
    const std::vector<std::string>& argv = world.processes.started[start].argv;
    return std::find(argv.begin(), argv.end(), word) != argv.end();
  };
  CHECK(has(0, "-I/opt/site/include"));
  CHECK(has(0, "-I/opt/late/include"));
  CHECK_FALSE(has(1, "-I/opt/site/include"));
}
