// The option --sarif FILE of commands that have it.
#pragma once

#include "command.h"
#include "report/sarif.h"

namespace dsbuild {

Option sarif_option(std::string help);

// Runs the command. Whatever comes of it, what it said is written to the file of --sarif; without the option
// `log` is nullptr.
Result<int> run_with_sarif(const CommandContext& context,
                           const std::function<Result<int>(SarifLog* log)>& run);

}  // namespace dsbuild
