// The options of this command line, for the commands that messages name (own_command of base/text.h).
#pragma once

#include <string>
#include <vector>

#include "settings/settings.h"

namespace dsbuild {

// As words, for a build; not those of `but`, which the caller says, nor how results are shown.
std::vector<std::string> given_options(const Settings& settings, const std::vector<std::string>& but = {});
// Of them these alone.
std::vector<std::string> given_among(const Settings& settings, const std::vector<std::string>& names);
// Those that say where builds of this command line are: for `clean`.
std::vector<std::string> given_places(const Settings& settings);
// Those that say which pack, and for which tools: for `report`.
std::vector<std::string> given_pack(const Settings& settings);

}  // namespace dsbuild
