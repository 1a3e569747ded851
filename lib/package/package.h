// Makes a Python distribution from a bundle, and writes it as a wheel for pip or installs it for `dsbuild
// install`. The reasons for its layout are in docs/guides/wheel.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "package/wheel_version.h"
#include "sys/file_system.h"

namespace dsbuild {

struct PackageFile {
  std::string path;  // below site-packages
  std::string bytes;
  bool operator==(const PackageFile&) const = default;
};

inline constexpr const char* k_license_folder = "licenses/";  // below .dist-info: PEP 639

struct Package {
  std::string name;                           // "dsbuild_deepspeed_ops": also its folder in site-packages
  std::string version;                        // "0.19.8", "0.19.8+cu130torch211"
  std::string tag;                            // "cp311-cp311-manylinux_2_34_x86_64"
  std::string pack;                           // "deepspeed"
  std::string license;                        // SPDX expression for all its files, or ""
  std::string requires_python;                // "==3.11.*"
  std::vector<std::string> requirements;      // "torch==2.11.*", "apache-tvm-ffi>=0.1.15"
  std::map<std::string, std::string> urls;    // label, address
  std::string description, description_type;  // for an index: the text, "text/markdown"
  std::string start_file;               // "dsbuild_deepspeed_ops.pth": Python reads it at its start; "": none
  std::string runs_with;                // "deepspeed 0.19.8, torch 2.11, CUDA 13.0, Python 3.11"
  std::vector<std::string> ops;         // the ops in it; sorted
  std::vector<std::string> left_out;    // ops of the bundle that are no Python modules
  std::vector<std::string> outside;     // needed libraries that manylinux does not promise; sorted
  std::vector<PackageFile> files;       // sorted; without the .dist-info folder
  std::vector<PackageFile> info_files;  // relative to the .dist-info folder: "licenses/LICENSE", "sboms/…"
  std::vector<Warning> warnings;

  std::string pip_name() const;    // "dsbuild-deepspeed-ops"
  std::string wheel_name() const;  // "dsbuild_deepspeed_ops-0.19.8-….whl"
  std::string dist_info() const;   // "dsbuild_deepspeed_ops-0.19.8.dist-info"
  bool operator==(const Package&) const = default;
};

// Properties of a wheel that are not in the bundle.
struct PackageOptions {
  WheelIndex index = WheelIndex::pypi;
  std::optional<std::string> version{};           // nullopt: default_wheel_version
  std::string description{}, description_type{};  // "": made from the manifest
};

// Makes the package, after checking the bundle against its manifest. For ops that are compiled against torch
// it has the Python modules, for others the libraries unchanged. An entry point of the group
// `dsbuild.bundles` names its folder for dsbuild.load (python/dsbuild). `loader`: the folder with further
// Python files (templates/wheel). Errors: exit 1 as of load_manifest, and `damaged_bundle`; exit 2
// `bad_version`; exit 3 `no_python_module`.
Result<Package> make_package(const Path& bundle, const Path& loader, const PackageOptions& options,
                             const FileReader& files);

// All files of an installed distribution: those of the package, then METADATA, WHEEL, INSTALLER (unless
// `installer` is empty), the other files of its .dist-info folder and, as the last one, RECORD with the
// digests of all.
std::vector<PackageFile> distribution_files(const Package& package, const std::string& installer);

// A zip archive of the files in their order. No times, no owners: the same files give the same bytes. Error:
// exit 1 `io` if there is not enough memory.
Result<std::string> make_zip(const std::vector<PackageFile>& files);

struct WrittenWheel {
  Path path;
  uint64_t bytes = 0;
};
// Writes the wheel (PEP 427) as `folder`/wheel_name(), whole or not at all.
Result<WrittenWheel> write_wheel(const Package& package, const Path& folder, FileSystem& files);

// Installs the distribution in `target`, a site-packages folder, and replaces one of the same name. Python
// sees the change in one step if the file system can do that. The next run repairs a killed one.
Result<void> install_package(const Package& package, const Path& target, FileSystem& files);

// Removes distributions that install_package has installed in `target`. Returns
// "dsbuild_deepspeed_ops-0.19.8" for each, sorted. Error: exit 1 `not_installed` if there is none.
Result<std::vector<std::string>> remove_packages(const Path& target, FileSystem& files);

}  // namespace dsbuild
