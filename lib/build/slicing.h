// Slices in the place of whole nvcc commands (lib/plan/slice_edges.h), where they give what nvcc gives.
#pragma once

#include "build/plan.h"

namespace dsbuild {

inline constexpr const char* k_slices_are_the_same = "the same";  // the fact of a SliceTest that found that

// The CUDA compile edges of `plan.graph`, and what C++ waits for besides (lib/plan/slice_edges.h). Files
// that cannot be sliced stay whole commands, with one warning `not_sliced` for each reason; plan.untested
// says what is to be tested of the slices. Errors: exit 3 `cannot_slice`, where slices are insisted on.
Result<void> slice(Plan& plan, Session& session);

// nvcc's own steps, asked once for each set of flags and kept for as long as the toolkit is the same.
LearntCommands learn_commands(const Words& nvcc, const Plan& plan, Session& session);

}  // namespace dsbuild
