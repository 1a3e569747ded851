// Which sources read torch's headers, for the guesses of what their edges take.
#pragma once

#include "build/plan.h"

namespace dsbuild {

// Puts them into plan.history, as inputs of edges ("pack/a.cu"): by the records of the build folder, which
// say what was read of the source as it is; of one without such a record, by what it and the pack's headers
// include, which also tells whether that is torch's interface alone.
void find_torch_readers(Plan& plan, Session& session);

}  // namespace dsbuild
