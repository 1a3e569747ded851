// Serves the shared cache to the steps of one command. Steps ask the process that runs the command. That
// process has the only connections, and knows which results were requested before.
#pragma once

#include <memory>

#include "base/result.h"
#include "remote/mirror.h"
#include "sys/request_server.h"

namespace dsbuild {

// How long a command waits for uploads before it ends.
inline constexpr double k_most_seconds_for_uploads = 10;

// Serves until the returned server is destroyed. `environment`: that of the steps; gets the variable by which
// they find the server. Error: exit 1 `io`.
Result<std::unique_ptr<RequestServer>> serve_steps(std::shared_ptr<RemoteMirror> remote,
                                                   Environment& environment);

// Why a command did not use the shared cache or some of its entries: `remote_off`, `remote_untrusted`.
std::vector<Warning> warnings_of(const MirrorUses& uses);

}  // namespace dsbuild
