// Probes that start no process, and those that ask Python.
#include <catch2/catch.hpp>

#include "unit/requirements/world.h"

using namespace dsbuild;

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
