// Makes the provenance of a wheel: bills of materials inside it, and a statement next to it.
#pragma once

#include "bundle/manifest.h"
#include "package/package.h"

namespace dsbuild {

// Files of the .dist-info folder, below it (PEP 770): "sboms/dsbuild_native_ops.spdx.json" and one in
// CycloneDX. They contain no build time, so that equal bundles make equal wheels. None if the bundle has no
// statement.
Result<std::vector<PackageFile>> sboms_of_wheel(const std::string& name, const Path& bundle,
                                                const Manifest& manifest, const FileReader& files);

// The bundle's statement with the wheel as its subject, as `wheel`.intoto.json. Nothing if the bundle has
// none.
Result<void> write_wheel_statement(const Path& bundle, const Path& wheel, FileSystem& files);

}  // namespace dsbuild
