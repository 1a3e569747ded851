// Checks whether facts and results can be stored for the next builds.
#pragma once

#include "settings/settings.h"

namespace dsbuild {

// Warns with `cache_not_writable` for the cache folder, and for a store in a different place. A build works
// without them but is slower, so the user should know before it starts.
std::vector<Warning> check_caches(const Settings& settings, FileSystem& files);

}  // namespace dsbuild
