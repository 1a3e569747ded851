// ProcessRunner::run_on_terminal: a child that writes to a pseudo terminal. Only for lib/sys.
#pragma once

#include "sys/process.h"

namespace dsbuild {

Result<ProcessResult> run_terminal_process(const Command& command, const std::vector<int>& inherited,
                                           const std::function<void(std::string_view)>& on_output,
                                           const std::function<bool()>& on_tick);

}  // namespace dsbuild
