// Finds the builder's id in the environment of a CI service, for --builder-id. Private to this stage.
#pragma once

#include "settings/raw_setting.h"

namespace dsbuild {

// On GitHub it names the workflow, on GitLab the project's runner.
MaybeRawSetting builder_of_environment(const Environment& environment);
// The CI service's run.
MaybeRawSetting invocation_of_environment(const Environment& environment);

}  // namespace dsbuild
