// Who builds, as CI's environment says: for --builder-id. Private to this stage.
#pragma once

#include "settings/given.h"

namespace dsbuild {

// GitHub's runner is the workflow, GitLab's is the project's runner.
MaybeGiven builder_of_environment(const Environment& environment);
// The run there.
MaybeGiven invocation_of_environment(const Environment& environment);

}  // namespace dsbuild
