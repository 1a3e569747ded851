// A project with a setup.py as a pack: what `new --from` and `build DIR` share.
#pragma once

#include "command.h"
#include "project/project.h"

namespace dsbuild {

// Says that the project's code is run, and what of it is not in the pack; as write_project.
Result<WrittenProject> pack_of_project(const Path& project, const Path& pack_folder, const Settings& settings,
                                       const CommandContext& context);

}  // namespace dsbuild
