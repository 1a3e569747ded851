#include "provenance/whole_bundle.h"

#include "bundle/bundle.h"
#include "bundle/verify.h"
#include "provenance/statement.h"

namespace dsbuild {

Result<Manifest> load_whole_bundle(const Path& bundle, const FileReader& files) {
  DSBUILD_TRY(manifest, load_manifest(bundle, files));
  DSBUILD_CHECK(check_undamaged(bundle, files));
  DSBUILD_CHECK(check_statement(bundle, manifest, files));
  return manifest;
}

}  // namespace dsbuild
