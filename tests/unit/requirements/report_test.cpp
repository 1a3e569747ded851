// All findings of all ops, in one pass.
#include <catch2/catch.hpp>

#include "arch/nvidia.h"
#include "unit/requirements/world.h"

using namespace dsbuild;

TEST_CASE("Every requirement of every op is answered, in the spec's order, whatever fails") {
  World world;
  world.add_op("first", {need(RequirementKind::command, {"a"}), need(RequirementKind::cpu_feature, {"avx2"}),
                         need_version(RequirementKind::cuda, ">=11")});
  world.add_op("second", {need(RequirementKind::cpu_feature, {"avx2"})});
  world.add_op("third", {});
  const RequirementReport report = world.check();
  CHECK(report.by_op.size() == 3);
  CHECK(report.by_op.at("first").size() == 3);
  CHECK(report.reasons("first") == std::vector<std::string>{"not on PATH: a", "no CUDA toolkit"});
  CHECK_FALSE(report.met("first"));
  CHECK(report.met("second"));
  CHECK(report.met("third"));
  CHECK_FALSE(report.met("no such op"));
}

TEST_CASE("Equal requirements are probed once per run, also where they fail, and keep their own hints") {
  World world;
  world.processes.on({"g++"}, FakeProcessRunner::failed("/usr/bin/ld: cannot find -laio\n"));
  Requirement hinted = need_library("aio", "io_submit");
  hinted.hint[""] = "ask your administrator";
  world.add_op("a", {need_library("aio", "io_submit")});
  world.add_op("b", {hinted});
  world.add_op("c", {need_library("aio", "io_cancel")});
  const RequirementReport report = world.check();
  CHECK(world.processes.starts() == 2);
  CHECK(report.by_op.at("a")[0].fix ==
        "install the development package of libaio, or add its folder to LDFLAGS (-L...)");
  CHECK(report.by_op.at("b")[0].fix == "ask your administrator");
}

TEST_CASE("The hint for the machine's package tool becomes a command") {
  const auto [program, fix] = GENERATE(table<std::string, std::string>({
      {"apt-get", "apt-get install libaio-dev"},
      {"dnf", "dnf install libaio-devel"},
      {"pacman", "pacman -S libaio"},
      {"zypper", "build libaio yourself"},
      {"apk", "apk add libaio-dev"},
      {"emerge", "build libaio yourself"},
  }));
  World world;
  world.files.add_file("/usr/bin/" + program, "", true);
  Requirement requirement = need(RequirementKind::command, {"aio"});
  requirement.hint = {{"", "build libaio yourself"},
                      {"apt", "libaio-dev"},
                      {"dnf", "libaio-devel"},
                      {"pacman", "libaio"},
                      {"apk", "libaio-dev"}};
  CHECK(world.ask(requirement).fix == fix);
}

TEST_CASE("Every kind has a general advice") {
  const auto kind = GENERATE(RequirementKind::cuda, RequirementKind::header, RequirementKind::library,
                             RequirementKind::command, RequirementKind::cpu_feature, RequirementKind::module,
                             RequirementKind::tvm_ffi, RequirementKind::torch, RequirementKind::cutlass,
                             RequirementKind::source);
  World world;
  world.processes.on({"g++"}, FakeProcessRunner::failed("error: no\n"));
  Requirement requirement = need(kind, {"subject"});
  requirement.range.text = ">=99";
  const Finding finding = world.ask(requirement);
  CHECK(finding.kind == kind);
  CHECK_FALSE(finding.ok);
  CHECK_FALSE(finding.why.empty());
  CHECK_FALSE(finding.fix.empty());
}

TEST_CASE("A requirement whose condition does not hold is not asked") {
  World world;
  Requirement hopper = need(RequirementKind::command, {"a"});
  hopper.when.any_arch = "9.0";
  world.add_op("op", {hopper}).archs.max = NvidiaTarget{{9, 0}};
  CHECK(world.check().by_op.at("op").empty());
  world.requested = {NvidiaTarget{{8, 0}, Suffix::none, CodeKind::real},
                     NvidiaTarget{{9, 0}, Suffix::none, CodeKind::real}};
  CHECK(world.check().by_op.at("op").size() == 1);
}

TEST_CASE("Arch conditions see what the op's own filter keeps") {
  World world;
  Requirement requirement = need(RequirementKind::command, {"a"});
  requirement.when.any_arch = "9.0";
  world.add_op("op", {requirement}).archs.max = NvidiaTarget{{8, 0}};
  world.requested = {NvidiaTarget{{9, 0}, Suffix::none, CodeKind::real}};
  CHECK(world.check().by_op.at("op").empty());
}

TEST_CASE("Torch is looked for only where an op's condition asks for it") {
  World world;
  world.files.add_file("/usr/bin/python3", "", true);
  world.processes.on({"python3", "torch"}, "torch=2.8.0+cu128\thome=/site/torch\n/site/torch/version.py\n");
  OpSpec& spec = world.add_op("op", {});
  CHECK_FALSE(world.check().torch.has_value());
  CHECK(world.processes.starts() == 0);
  When when;
  when.torch = VersionRange{">=2.4"};
  spec.libraries.push_back({"c10", when, {}});
  CHECK(world.check().torch->number().text() == "2.8.0");
  CHECK(world.processes.starts() == 1);
}

TEST_CASE("One remedy for two findings is said once") {
  RequirementReport report;
  Finding header;
  header.why = "no header";
  header.fix = "install it";
  Finding library = header;
  library.why = "no library";
  report.by_op["op"] = {header, library};
  CHECK(report.reasons("op").size() == 2);
  CHECK(report.fixes("op") == std::vector<std::string>{"install it"});
}
