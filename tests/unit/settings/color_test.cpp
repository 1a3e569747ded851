#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"
#include "settings/settings.h"

namespace dsbuild {
namespace {

struct ColorWorld {
  FakeFileSystem files;
  Arguments arguments;
  Environment environment;

  Result<Settings> load() const { return load_settings(arguments, environment, files, "/data"); }
  Setting<ColorMode> color() const {
    const auto loaded = load();
    REQUIRE(loaded);
    return loaded->color;
  }
};

TEST_CASE("NO_COLOR means never unless --color says otherwise") {
  ColorWorld world;
  world.environment["NO_COLOR"] = "";
  CHECK(world.color().value == ColorMode::automatic);
  world.environment["NO_COLOR"] = "0";
  CHECK(world.color() == Setting<ColorMode>{ColorMode::never, "NO_COLOR"});
  world.environment["FORCE_COLOR"] = world.environment["CLICOLOR_FORCE"] = "1";
  CHECK(world.color() == Setting<ColorMode>{ColorMode::never, "NO_COLOR"});
  world.arguments["--color"] = "always";
  CHECK(world.color() == Setting<ColorMode>{ColorMode::always, "--color"});
  world.arguments["--color"] = "alway";
  const auto loaded = world.load();
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().code == "bad_choice");
  CHECK(loaded.error().where == "--color");
  CHECK(loaded.error().what == "'alway' is not one of the choices (did you mean 'always'?)");
}

TEST_CASE("variables that ask for colours or against them, the strongest first") {
  using Mode = Setting<ColorMode>;
  const Mode forced{ColorMode::always, "FORCE_COLOR"}, clicolor{ColorMode::always, "CLICOLOR_FORCE"};
  const struct {
    Environment environment;
    Mode mode;
  } rows[] = {{{{"FORCE_COLOR", "1"}}, forced},
              {{{"FORCE_COLOR", "true"}, {"CLICOLOR", "0"}}, forced},
              {{{"FORCE_COLOR", ""}}, {}},
              {{{"FORCE_COLOR", "0"}, {"CLICOLOR_FORCE", "1"}}, {ColorMode::never, "FORCE_COLOR"}},
              {{{"CLICOLOR_FORCE", "1"}, {"CLICOLOR", "0"}}, clicolor},
              {{{"CLICOLOR_FORCE", "0"}}, {}},
              {{{"CLICOLOR_FORCE", "0"}, {"CLICOLOR", "0"}}, {ColorMode::never, "CLICOLOR"}},
              {{{"CLICOLOR", "1"}}, {}}};
  for (const auto& row : rows) {
    ColorWorld world;
    world.environment.insert(row.environment.begin(), row.environment.end());
    CHECK(world.color() == row.mode);
    CHECK(load_color({}, world.environment) == row.mode);
    CHECK(load_color("never", world.environment) == Mode{ColorMode::never, "--color"});
  }
}

}  // namespace
}  // namespace dsbuild
