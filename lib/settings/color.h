// Whether text has colours, as the environment says it: no-color.org, force-color.org, bixense.com/clicolors.
// Private to this stage.
#pragma once

#include <string>
#include <vector>

#include "settings/raw_setting.h"

namespace dsbuild {

// What --color takes, in the order of ColorMode.
const std::vector<std::string>& color_words();
// NO_COLOR beats FORCE_COLOR, which beats CLICOLOR_FORCE, which beats CLICOLOR=0.
MaybeRawSetting color_of_environment(const Environment& environment);

}  // namespace dsbuild
