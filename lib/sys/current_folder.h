// The folder that relative paths of this process start from.
#pragma once

#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

// For the whole process, whatever threads it has. Errors: exit 1 `io`.
Result<void> enter_folder(const Path& folder);

}  // namespace dsbuild
