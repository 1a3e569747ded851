// The options of this command line, for the commands that messages name (own_command of base/text.h).
#pragma once

#include <string>
#include <vector>

#include "settings/settings.h"

namespace dsbuild {

// As words, for a build. Leaves out those in `but`, which the caller adds itself, and those of the output's
// form.
std::vector<std::string> given_options(const Settings& settings, const std::vector<std::string>& but = {});
// Only those with these names.
std::vector<std::string> given_among(const Settings& settings, const std::vector<std::string>& names);
// Those that name the folders of a build, for `clean`.
std::vector<std::string> given_places(const Settings& settings);
// Those that name the pack and the tools, for `report`.
std::vector<std::string> given_pack(const Settings& settings);

}  // namespace dsbuild
