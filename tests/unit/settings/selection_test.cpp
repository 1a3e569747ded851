#include <catch2/catch.hpp>

#include "base/args.h"
#include "fakes/fake_file_system.h"
#include "settings/settings.h"

namespace dsbuild {
namespace {

Result<Settings> load(const std::optional<std::string>& ops, const Environment& environment,
                      const std::string& config = "") {
  FakeFileSystem files;
  files.add_file("/project/c.yaml", config);
  Arguments arguments;
  if (ops) arguments["--ops"] = *ops;
  if (!config.empty()) arguments["--config"] = "c.yaml";
  return load_settings(arguments, environment, files, "/data");
}

Selection selection(const std::optional<std::string>& ops, const Environment& environment = {},
                    const std::string& config = "") {
  const auto loaded = load(ops, environment, config);
  if (!loaded) FAIL(loaded.error().where << ": " << loaded.error().what);
  return loaded->selection;
}

TEST_CASE("a switch takes DeepSpeed's integers and the usual words in any case") {
  for (const char* text : {"1", "2", "-1", "01", " 1 ", "+3", "true", "TRUE", "on", "On", "yes"}) {
    CHECK(parse_switch(text) == Switch::on);
  }
  for (const char* text : {"0", "00", "-0", "false", "OFF", "no", " No\t"})
    CHECK(parse_switch(text) == Switch::off);
  for (const char* text : {"", " "})
    CHECK(parse_switch(text) == Switch::unset);
  for (const char* text : {"maybe", "1.0", "y", "-", "+", "1 1", "0x1", "enabled", "1_0"}) {
    CHECK(parse_switch(text) == std::nullopt);
  }
}

TEST_CASE("--ops takes names separated by commas, blanks or semicolons, in any order") {
  const Selection expected = selection("fused_adam,cpu_adam");
  CHECK(expected.names == Args{"cpu_adam", "fused_adam"});
  CHECK(expected.ops_given);
  CHECK_FALSE(expected.all);
  CHECK(expected.origin == "--ops");
  for (const char* text :
       {"cpu_adam;fused_adam", " fused_adam  cpu_adam ", "cpu_adam,fused_adam,,cpu_adam"}) {
    CHECK(selection(text) == expected);
  }
}

TEST_CASE("a dash leaves an op out, and a list of those alone leaves them out of all") {
  CHECK(selection("all,-gds").without == Args{"gds"});
  CHECK(selection("all,-gds") == selection("-gds,-gds"));
  CHECK(selection("a,-b").all == false);
}

TEST_CASE("an empty list of ops is an error, and so is one that contradicts itself") {
  for (const char* text : {"", " ", ",;"}) {
    const auto loaded = load(text, {});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().exit == Exit::usage);
    CHECK(loaded.error().code == "empty_ops_list");
    CHECK(loaded.error().where == "--ops");
    CHECK(loaded.error().what == "the list of ops is empty");
  }
  CHECK(load("all,gds,-gds", {}).error().what == "'gds' is both named and left out");
}

TEST_CASE("every DS_BUILD_ variable but DS_BUILD_STRING is a switch") {
  const Selection read = selection(std::nullopt, {{"DS_BUILD_OPS", "1"},
                                                  {"DS_BUILD_FUSED_ADAM", "off"},
                                                  {"DS_BUILD_UTILS", ""},
                                                  {"DS_BUILD_STRING", "+cu130"},
                                                  {"DS_BUILDER", "x"},
                                                  {"DSX", "maybe"}});
  CHECK(read.build_ops == Switch::on);
  CHECK(read.variables == std::map<std::string, Switch>{{"DS_BUILD_FUSED_ADAM", Switch::off},
                                                        {"DS_BUILD_UTILS", Switch::unset}});
}

TEST_CASE("a switch that is neither on nor off is an error that names its variable") {
  for (const std::string variable : {"DS_BUILD_FUSED_ADAM", "DS_BUILD_OPS"}) {
    const auto loaded = load("all", {{variable, "maybe"}});
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error() ==
          fail(Exit::usage, "bad_switch", variable, "'maybe' is neither on nor off",
               "Use 1 or 0 (also true/false, on/off, yes/no, any integer; empty counts as unset).")
              .value());
  }
}

TEST_CASE("a config file's ops give way to what the environment selects, and that to --ops") {
  const std::string config = "ops: [fused_adam, cpu_adam]\n";
  CHECK(selection(std::nullopt, {}, config).names == Args{"cpu_adam", "fused_adam"});
  CHECK(selection(std::nullopt, {}, config).origin == "c.yaml:1:1");
  CHECK(selection(std::nullopt, {{"DS_BUILD_UTILS", "0"}}, config).ops_given);
  CHECK_FALSE(selection(std::nullopt, {{"DS_BUILD_UTILS", "1"}}, config).ops_given);
  CHECK_FALSE(selection(std::nullopt, {{"DS_BUILD_OPS", "0"}}, config).ops_given);
  CHECK(selection("gds", {{"DS_BUILD_OPS", "1"}}, config).names == Args{"gds"});
}

}  // namespace
}  // namespace dsbuild
