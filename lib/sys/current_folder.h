// Changes this process's current folder.
#pragma once

#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

// For all threads of the process. Errors: exit 1 `io`.
Result<void> enter_folder(const Path& folder);

}  // namespace dsbuild
