// Controls what happens to processes when their parent is killed.
#pragma once

#include "base/text.h"

namespace dsbuild {

// From now on, this process gets SIGTERM when its parent dies. Processes that lib/sys starts get it likewise.
void end_with_parent();

// Whether the current folder of another process lies in `folder`: that of compilers is the build folder.
// Those of other users and of other process namespaces are not seen.
bool is_worked_in(const Path& folder);

}  // namespace dsbuild
