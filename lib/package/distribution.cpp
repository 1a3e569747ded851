// The .dist-info folder, which makes files in site-packages a distribution that pip knows (PEP 376, 427,
// 627).
#include <algorithm>

#include "base/digest.h"
#include "base/version.h"
#include "package/metadata.h"
#include "package/package.h"

namespace dsbuild {
namespace {

std::string entry_points(const Package& package) {
  return "[dsbuild.bundles]\n" + package.name + " = " + package.name + "\n";
}

std::string wheel_facts(const Package& package) {
  return std::string("Wheel-Version: 1.0\nGenerator: dsbuild ") + k_version +
         "\nRoot-Is-Purelib: false\nTag: " + package.tag + "\n";
}

std::string record_line(const PackageFile& file) {
  return file.path + ",sha256=" + sha256_urlsafe(file.bytes) + "," + std::to_string(file.bytes.size()) + "\n";
}

}  // namespace

std::vector<PackageFile> distribution_files(const Package& package, const std::string& installer) {
  std::vector<PackageFile> files = package.files;
  const std::string folder = package.dist_info() + "/";
  files.push_back({folder + "METADATA", render_metadata(package)});
  files.push_back({folder + "WHEEL", wheel_facts(package)});
  files.push_back({folder + "entry_points.txt", entry_points(package)});
  if (!installer.empty()) files.push_back({folder + "INSTALLER", installer + "\n"});
  for (const PackageFile& file : package.info_files)
    files.push_back({folder + file.path, file.bytes});
  std::string record;
  for (const PackageFile& file : files)
    record += record_line(file);
  record += folder + "RECORD,,\n";
  files.push_back({folder + "RECORD", std::move(record)});
  return files;
}

}  // namespace dsbuild
