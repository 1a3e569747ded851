// What a wheel says of how it was made: bills of materials inside of it, and a statement next to it.
#pragma once

#include "bundle/manifest.h"
#include "package/package.h"

namespace dsbuild {

// Files of the .dist-info folder, below it (PEP 770): "sboms/dsbuild_native_ops.spdx.json" and another in
// CycloneDX. They name no time of a build, so that equal bundles make equal wheels. None where the bundle has
// no statement.
Result<std::vector<PackageFile>> sboms_of_wheel(const std::string& name, const Path& bundle,
                                                const Manifest& manifest, const FileReader& files);

// The bundle's statement with the wheel as its subject, as `wheel`.intoto.json. Nothing where the bundle has
// none.
Result<void> write_wheel_statement(const Path& bundle, const Path& wheel, FileSystem& files);

}  // namespace dsbuild
