// Rows of the table of options (options.h) for what variables alone say. Private to this stage.
#pragma once

#include <vector>

#include "settings/options.h"

namespace dsbuild {

std::vector<Option> variable_options();
// Of them those that decide bytes.
std::vector<Option> variables_of_bytes();

}  // namespace dsbuild
