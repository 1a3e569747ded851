// Options about other machines: shared cache, remote execution, shards. Private to this stage.
#pragma once

#include <vector>

#include "settings/options.h"

namespace dsbuild {

std::vector<Option> options_of_sharing();
std::vector<Option> options_of_trust();
std::vector<Option> options_of_execution();
std::vector<Option> options_of_shards();

}  // namespace dsbuild
