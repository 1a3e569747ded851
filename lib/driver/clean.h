// Removes the folders that builds made, but not the cache.
#pragma once

#include "driver/request.h"
#include "driver/session.h"

namespace dsbuild {

// Removes the build folder and the pack that `build DIR` made next to it; if `with_bundle`, also the bundle
// at --out. Sends an event for each removal, and returns the removed paths. Waits for a second dsbuild that
// works in a folder; exit 75 `locked` after the time limit. Exit 2 `bundle_in_build_dir` if the build folder
// contains a bundle and `with_bundle` is false. Exit 2 `foreign_build_dir` or `foreign_out` for folders that
// are not dsbuild's.
Result<std::vector<Path>> clean(const Request& request, bool with_bundle, FileSystem& files, Events& events);

}  // namespace dsbuild
