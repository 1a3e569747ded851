// `dsbuild action KIND TOOLS OUTPUT …`: runs one action of a build, whichever kind it is.
#pragma once

#include "exec/engine.h"

namespace dsbuild {

// `words`: the arguments after `dsbuild action` in build.ninja. The current folder is the build folder.
// `runner` runs the tools, `print` gets their output. If the record is up to date, nothing runs; without the
// cache, all tools run, whatever the record says. Errors: exit 2 `bad_option`, `words` is no action; those of
// reading and writing.
Result<StepEnd> run_action(const StepWords& words, System& system, Runner& runner, const Print& print,
                           ActionRun::Cache cache = ActionRun::Cache::used);

}  // namespace dsbuild
