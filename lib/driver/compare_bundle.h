// A bundle that is there, compared with what nvcc makes of the same sources.
#pragma once

#include "bundle/bundle.h"
#include "bundle/verify.h"
#include "driver/rebuild_until_stable.h"

namespace dsbuild {

struct ComparedBundle {
  size_t compared = 0;                  // files of ops with no difference
  std::vector<Difference> differences;  // one for each source that nvcc makes otherwise, or cannot compile
};
// Each difference is an event too, with its log. The request is that of the build, whose folder has to be
// there and up to date. Errors: exit 1 `not_built`, exit 2 `nothing_to_compare`, exit 75 `locked`, those of
// make_plan.
Result<ComparedBundle> compare_bundle(const Request& request, const Manifest& manifest, Session& session);

}  // namespace dsbuild
