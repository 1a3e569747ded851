// Options of other machines: a cache that is shared, where tools run, shards. Private to this stage.
#pragma once

#include <vector>

#include "settings/options.h"

namespace dsbuild {

std::vector<Option> options_of_sharing();
std::vector<Option> options_of_trust();
std::vector<Option> options_of_execution();
std::vector<Option> options_of_shards();

}  // namespace dsbuild
