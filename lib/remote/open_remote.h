// The shared cache that the settings name.
#pragma once

#include <memory>

#include "remote/mirror.h"
#include "settings/settings.h"
#include "sys/system.h"

namespace dsbuild {

// nullptr: the settings name none, or nothing is cached (--cache-size 0). Asks nothing yet, so a server that
// is not there is no error. Errors: exit 2 `bad_remote_url`: a scheme that is not known, a file that cannot
// be read; exit 3 `no_libcurl`.
Result<std::shared_ptr<RemoteMirror>> open_remote(const Settings& settings, System& system);

}  // namespace dsbuild
