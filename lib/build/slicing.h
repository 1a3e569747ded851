// Slices in the place of whole nvcc commands (lib/plan/slice_edges.h), where they give what nvcc gives.
#pragma once

#include "build/plan.h"

namespace dsbuild {

// The CUDA compile edges of `plan.graph`, and what C++ waits for besides (lib/plan/slice_edges.h). Files
// that cannot be sliced stay whole commands, with one warning `not_sliced` for each reason. Errors: exit 3
// `cannot_slice`, where slices are insisted on.
Result<void> slice(Plan& plan, SelfTest self_test, Session& session);

}  // namespace dsbuild
