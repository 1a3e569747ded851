// --add: the ops of the bundle at --out are selected, as well as those that are named.
#pragma once

#include "registry/registry.h"
#include "settings/settings.h"

namespace dsbuild {

// selection.kept; and the bundle's archs, where none are asked for: what is kept stays as it is. Nothing
// without --add, and where there is no bundle yet. Errors: those of load_manifest.
Result<void> keep_ops_of_bundle(const FileReader& files, Settings& settings);

// Errors, exit 2: `other_pack`, where the bundle is of another pack; `unknown_op`, where the pack has lost
// one of its ops.
Result<void> check_kept_ops(const Settings& settings, const Registry& registry, const FileReader& files);

}  // namespace dsbuild
