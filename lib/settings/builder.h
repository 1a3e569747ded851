// Who builds, as CI's environment says: for --builder-id. Private to this stage.
#pragma once

#include "settings/raw_setting.h"

namespace dsbuild {

// GitHub's runner is the workflow, GitLab's is the project's runner.
MaybeRawSetting builder_of_environment(const Environment& environment);
// The run there.
MaybeRawSetting invocation_of_environment(const Environment& environment);

}  // namespace dsbuild
