// The steps of one command ask the process that runs it for results of the shared cache. That process has the
// only connections, and knows what was asked for already.
#pragma once

#include <memory>

#include "base/result.h"
#include "remote/mirror.h"
#include "sys/request_server.h"

namespace dsbuild {

// How long the end of a command waits for uploads.
inline constexpr double k_most_seconds_for_uploads = 10;

// As long as the server is there. `environment`: of the steps, which find the server by it. Error: exit 1
// `io`.
Result<std::unique_ptr<RequestServer>> serve_steps(std::shared_ptr<RemoteMirror> remote,
                                                   Environment& environment);

// Why a command did not use the shared cache, or not all of it: `remote_off`, `remote_untrusted`.
std::vector<Warning> warnings_of(const MirrorUses& uses);

}  // namespace dsbuild
