// Removes what builds made; the cache stays.
#pragma once

#include "driver/request.h"
#include "driver/session.h"

namespace dsbuild {

// Removes the build folder, the pack that `build DIR` made next to it and, `with_bundle`, the bundle at
// --out. Each removal is an event. The result names the removed paths; it is empty where there was nothing.
// Without `with_bundle` a bundle in the build folder is exit 2 `bundle_in_build_dir`. Folders that are not
// dsbuild's: exit 2 `foreign_build_dir`, `foreign_out`. Waits for another dsbuild that works in a folder
// (exit 75 `locked`).
Result<std::vector<Path>> clean(const Request& request, bool with_bundle, FileSystem& files, Events& events);

}  // namespace dsbuild
