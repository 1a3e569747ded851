// Loads a bundle from which something is made, and checks it against its manifest and its statement.
#pragma once

#include "bundle/manifest.h"
#include "sys/file_system.h"

namespace dsbuild {

// Its manifest. Errors: exit 1 as of load_manifest and check_statement, and `damaged_bundle`.
Result<Manifest> load_whole_bundle(const Path& bundle, const FileReader& files);

}  // namespace dsbuild
