// --add: selects the ops of the bundle at --out in addition to those that are named.
#pragma once

#include "registry/registry.h"
#include "settings/settings.h"

namespace dsbuild {

// Sets selection.kept. If the user requests no archs, also takes the bundle's archs, so that the present ops
// do not change. Does nothing without --add or without a bundle. Errors: those of load_manifest.
Result<void> keep_ops_of_bundle(const FileReader& files, Settings& settings);

// Errors, exit 2: `other_pack` if the bundle belongs to a different pack; `unknown_op` if the pack no longer
// has an op of the bundle.
Result<void> check_kept_ops(const Settings& settings, const Registry& registry, const FileReader& files);

}  // namespace dsbuild
