#include "settings/color.h"

#include "settings/settings.h"
#include "settings/values.h"

namespace dsbuild {
namespace {

struct ColorVariable {
  const char* name;
  const char* at_zero;    // what "0" stands for; nullptr: nothing
  const char* otherwise;  // what any other text stands for
};
// The first that says something counts. NO_COLOR says it by any text. FORCE_COLOR=0 is off in the programs
// that know it best, those of Node.js.
constexpr ColorVariable k_variables[] = {{"NO_COLOR", "never", "never"},
                                         {"FORCE_COLOR", "never", "always"},
                                         {"CLICOLOR_FORCE", nullptr, "always"},
                                         {"CLICOLOR", "never", nullptr}};

}  // namespace

const std::vector<std::string>& color_words() {
  static const std::vector<std::string> words = {"auto", "always", "never"};
  return words;
}

MaybeRawSetting color_of_environment(const Environment& environment) {
  for (const ColorVariable& variable : k_variables) {
    const MaybeRawSetting given = from_variable(environment, variable.name);
    if (!given) continue;
    if (const char* meaning = given->text == "0" ? variable.at_zero : variable.otherwise)
      return RawSetting{meaning, variable.name};
  }
  return std::nullopt;
}

Setting<ColorMode> load_color(const std::optional<std::string>& argument, const Environment& environment) {
  const MaybeRawSetting given =
      first_given({from_argument(argument, "--color"), color_of_environment(environment)});
  if (!given) return {};
  const auto mode = parse_choice(*given, color_words());
  return mode ? Setting<ColorMode>{static_cast<ColorMode>(*mode), given->origin} : Setting<ColorMode>{};
}

}  // namespace dsbuild
