// Removes a file or a whole folder. Only for lib/sys.
#pragma once

#include "base/result.h"
#include "base/text.h"

namespace dsbuild {

// No error when `path` is absent. Symbolic links are removed, never followed, even if somebody puts
// one there meanwhile: each folder is opened by its parent's descriptor.
Result<void> remove_tree(const Path& path);

}  // namespace dsbuild
