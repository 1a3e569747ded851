// Compares an existing bundle with the objects that nvcc makes of the same sources.
#pragma once

#include "bundle/bundle.h"
#include "bundle/verify.h"
#include "driver/rebuild_until_stable.h"

namespace dsbuild {

struct ComparedBundle {
  size_t compared = 0;  // number of files, of ops without a difference
  // One for each source whose nvcc object differs, or that nvcc cannot compile.
  std::vector<Difference> differences;
};
// Sends an event with a log for each difference, too. `request` is that of the build, whose folder must exist
// and be up to date. Errors: exit 1 `not_built`, exit 2 `nothing_to_compare`, exit 75 `locked`, those of
// make_plan.
Result<ComparedBundle> compare_bundle(const Request& request, const Manifest& manifest, Session& session);

}  // namespace dsbuild
