// Removes what builds made; the cache stays.
#pragma once

#include "build/request.h"
#include "build/session.h"

namespace dsbuild {

// The build folder, the pack that `build DIR` made beside it and, `with_bundle`, what is published at --out;
// each is told as an event once it is gone. What was removed: nothing is where there was nothing. A bundle
// goes only where that is asked for: one that lies in the build folder is exit 2 `bundle_in_build_dir` else.
// Folders that are not dsbuild's: exit 2 `foreign_build_dir`, `foreign_out`; one that another dsbuild works
// in is waited for (exit 75 `locked`).
Result<std::vector<Path>> clean(const Request& request, bool with_bundle, FileSystem& files, Events& events);

}  // namespace dsbuild
