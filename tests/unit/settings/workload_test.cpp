#include "settings/workload.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

namespace dsbuild {
namespace {

ArchSet archs(const char* list) {
  const auto parsed = parse_arch_list(list, "test");
  REQUIRE(parsed);
  return parsed->targets;
}

Workload sample() {
  Workload workload;
  workload.add("native", "fused_adam", archs("9.0+PTX"));
  workload.add("native", "fused_adam", archs("8.0 10.0a 12.0-virtual"));
  workload.add("native", "cpu_adam", {});
  workload.add("/home/\xC3\xA4 \"pack\"", "true", archs("7.5"));
  return workload;
}

struct WorkloadWorld {
  FakeFileSystem files;
  Arguments arguments;
  Environment environment;

  explicit WorkloadWorld(const std::string& text) {
    files.add_file("/project/w.yaml", text);
    arguments["--ops"] = "@w.yaml";
  }
  Settings settings() {
    const auto loaded = load_settings(arguments, environment, files, "/data");
    if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
    return *loaded;
  }
  Error error() {
    const auto loaded = load_settings(arguments, environment, files, "/data");
    REQUIRE_FALSE(loaded);
    return loaded.error();
  }
};

constexpr const char* k_two_ops = "packs:\n  native:\n    a: [\"8.0\"]\n    b: [\"9.0+PTX\"]\n    c: []\n";

TEST_CASE("a workload is sorted, and is read as it was written") {
  const std::string text = render_workload(sample(), "Made by a test.");
  CHECK(text ==
        "# Made by a test.\n"
        "packs:\n"
        "  \"/home/\xC3\xA4 \\\"pack\\\"\":\n"
        "    true: [\"7.5\"]\n"
        "  native:\n"
        "    cpu_adam: []\n"
        "    fused_adam: [\"8.0\", \"9.0+PTX\", \"10.0a\", \"12.0-virtual\"]\n");
  const auto read = read_workload(text, "w.yaml");
  REQUIRE(read);
  CHECK(render_workload(*read, "Made by a test.") == text);
  CHECK(read->ops() == 3);
  CHECK(read->packs.at("native").at("fused_adam").origin == "w.yaml:7:5");
}

TEST_CASE("the ops of a workload are named, each with its own archs, and the request is all of them") {
  const Settings settings = WorkloadWorld(k_two_ops).settings();
  CHECK(settings.selection.names == std::vector<std::string>{"a", "b", "c"});
  CHECK(settings.pack == Setting<std::string>{"native", "w.yaml"});
  CHECK(settings.arch_text == Setting<std::string>{"8.0;9.0+PTX", "w.yaml"});
  CHECK_FALSE(settings.arch.value.is_default);
  const ArchSet all = settings.arch.value.targets;
  CHECK(settings.selection.archs_of("a", all) == archs("8.0"));
  CHECK(settings.selection.archs_of("b", all) == archs("9.0+PTX"));
  CHECK(settings.selection.archs_of("c", all) == all);
  CHECK(settings.selection.archs_of("other", all) == all);
  CHECK(settings.selection.origin_of("b") == "w.yaml:4:5");
  CHECK(settings.selection.origin_of("other") == "--ops");
}

TEST_CASE("--arch and its variable are above a workload, a config file is not") {
  WorkloadWorld world(k_two_ops);
  world.files.add_file("/project/c.yaml", "arch: 7.5\n");
  world.arguments["--config"] = "c.yaml";
  CHECK(world.settings().arch.origin == "w.yaml");
  world.environment["TORCH_CUDA_ARCH_LIST"] = "7.0";
  for (const char* origin : {"TORCH_CUDA_ARCH_LIST", "--arch"}) {
    if (std::string(origin) == "--arch") world.arguments["--arch"] = "7.0";
    const Settings settings = world.settings();
    CHECK(settings.arch.origin == origin);
    CHECK(settings.selection.archs_of("a", archs("7.0")) == archs("7.0"));
  }
}

TEST_CASE("host code alone asks for no archs") {
  const Settings settings = WorkloadWorld("packs:\n  native:\n    c: []\n").settings();
  CHECK(settings.arch.value.is_default);
}

TEST_CASE("of several packs one is to be chosen, a folder by any of its paths") {
  WorkloadWorld world("packs:\n  native:\n    a: []\n  /project/mine:\n    b: []\n");
  CHECK(world.error().what == "it has ops of several packs, and a bundle is of one: /project/mine, native");
  for (const char* pack : {"mine", "/project/mine"}) {
    world.arguments["--pack"] = pack;
    CHECK(world.settings().selection.names == std::vector<std::string>{"b"});
    CHECK(world.settings().pack.value == pack);
  }
  world.arguments["--pack"] = "other";
  CHECK(world.error().code == "bad_workload");
  CHECK(world.error().fix == "Its packs: /project/mine, native.");
}

}  // namespace
}  // namespace dsbuild
