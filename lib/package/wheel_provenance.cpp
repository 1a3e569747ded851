#include "package/wheel_provenance.h"

#include "base/digest.h"
#include "bundle/bundle.h"
#include "provenance/sbom.h"

namespace dsbuild {
namespace {

// The earliest that a zip archive knows.
constexpr const char* k_time_of_wheels = "1980-01-01T00:00:00Z";

bool has_statement(const Path& bundle, const FileReader& files) {
  return files.kind(bundle / k_statement_name) == FileKind::file;
}

}  // namespace

Result<std::vector<PackageFile>> sboms_of_wheel(const std::string& name, const Path& bundle,
                                                const Manifest& manifest, const FileReader& files) {
  std::vector<PackageFile> sboms;
  if (!has_statement(bundle, files)) return sboms;
  DSBUILD_TRY(statement, load_statement(bundle, files));
  const Components components = components_of(manifest, statement);
  sboms.push_back({"sboms/" + name + ".cdx.json", render_cyclonedx(components, k_time_of_wheels)});
  sboms.push_back({"sboms/" + name + ".spdx.json", render_spdx(components, k_time_of_wheels)});
  return sboms;
}

Result<void> write_wheel_statement(const Path& bundle, const Path& wheel, FileSystem& files) {
  if (!has_statement(bundle, files)) return {};
  DSBUILD_TRY(statement, load_statement(bundle, files));
  DSBUILD_TRY(bytes, files.read_file(wheel));
  statement.subjects = {{wheel.filename().string(), sha256(bytes)}};
  return files.write_file(wheel.string() + ".intoto.json", render_statement(statement));
}

}  // namespace dsbuild
