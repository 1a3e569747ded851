// The option --sarif FILE of commands that have it.
#pragma once

#include "command.h"
#include "report/sarif.h"

namespace dsbuild {

Option sarif_option(std::string help);

// Runs the command and writes its messages to the file of --sarif, whether it succeeds or fails. Without the
// option, `log` is nullptr.
Result<int> run_with_sarif(const CommandContext& context,
                           const std::function<Result<int>(SarifLog* log)>& run);

}  // namespace dsbuild
