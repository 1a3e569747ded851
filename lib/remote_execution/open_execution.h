// Opens the Execution service that the settings name.
#pragma once

#include <memory>

#include "remote_execution/remote_executor.h"
#include "settings/settings.h"

namespace dsbuild {

// nullptr: the settings name none. Sends nothing yet, so a server that is not there is no error. Errors: exit
// 2 `bad_remote_url`, exit 3 `no_libcurl`, those of reading.
Result<std::shared_ptr<ExecutionService>> open_execution(const Settings& settings, System& system);

ExecutorOptions executor_options(const Settings& settings);
// The folder of a toolkit on the workers; "": this machine's tools are uploaded.
std::string worker_home(const Settings& settings);

// Why a build stopped using the service: `execution_off`.
std::vector<Warning> warnings_of(const ExecutorUses& uses);

}  // namespace dsbuild
