// `dsbuild action KIND TOOLS OUTPUT …`: runs one action of a build, whichever kind it is.
#pragma once

#include "exec/engine.h"

namespace dsbuild {

// `words`: what follows `dsbuild action`, as build.ninja has them. The current folder is the build folder.
// Its tools run by `runner`; what they say goes to `print`. Where the record holds, nothing runs; without
// the cache all tools run, whatever the record says. Errors: exit 2 `bad_option`, the words are no action;
// those of reading and writing.
Result<StepEnd> run_action(const StepWords& words, System& system, Runner& runner, const Print& print,
                           ActionRun::Cache cache = ActionRun::Cache::used);

}  // namespace dsbuild
