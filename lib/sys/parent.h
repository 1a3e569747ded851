// The process that started this one.
#pragma once

namespace dsbuild {

// From now on this process gets SIGTERM when that one dies, as those get it that lib/sys starts.
void end_with_parent();

}  // namespace dsbuild
