// Finds out from the environment whether text has colours: no-color.org, force-color.org,
// bixense.com/clicolors. Private to this stage.
#pragma once

#include <string>
#include <vector>

#include "settings/raw_setting.h"

namespace dsbuild {

// The values of --color, in the order of ColorMode.
const std::vector<std::string>& color_words();
// NO_COLOR overrides FORCE_COLOR, which overrides CLICOLOR_FORCE, which overrides CLICOLOR=0.
MaybeRawSetting color_of_environment(const Environment& environment);

}  // namespace dsbuild
