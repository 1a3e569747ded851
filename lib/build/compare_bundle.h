// A bundle that is there, compared with what nvcc makes of the same sources.
#pragma once

#include "build/settled_run.h"
#include "bundle/bundle.h"

namespace dsbuild {

// How many files are the same; nullopt: some are not, and their failures were told as events. The request is
// that of the build, whose folder has to be there and up to date. Errors: exit 1 `not_built`, exit 2
// `nothing_to_compare`, exit 75 `locked`, those of make_plan.
Result<std::optional<size_t>> compare_bundle(const Request& request, const Manifest& manifest,
                                             Session& session);

}  // namespace dsbuild
