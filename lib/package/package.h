// A bundle as a distribution: what pip installs, and what `dsbuild install` lays out
// (docs/guides/wheel.md says why it is as it is).
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
  std::string license;                        // SPDX expression for all that is in it, or ""
  std::string requires_python;                // "==3.11.*"
  std::vector<std::string> requirements;      // "torch==2.11.*", "apache-tvm-ffi>=0.1.15"
  std::map<std::string, std::string> urls;    // label, address
  std::string description, description_type;  // what an index shows: the text, "text/markdown"
  std::string start_file;             // "dsbuild_deepspeed_ops.pth": Python reads it when it starts; "": none
  std::string runs_with;              // "deepspeed 0.19.8, torch 2.11, CUDA 13.0, Python 3.11"
  std::vector<std::string> ops;       // those that are in it; sorted
  std::vector<std::string> left_out;  // ops of the bundle that are no Python modules
  std::vector<std::string> outside;   // libraries that they need and manylinux does not promise; sorted
  std::vector<PackageFile> files;     // sorted; without the .dist-info folder
  std::vector<PackageFile> info_files;  // of the .dist-info folder, below it: "licenses/LICENSE", "sboms/…"
  std::vector<Warning> warnings;

  std::string pip_name() const;    // "dsbuild-deepspeed-ops"
  std::string wheel_name() const;  // "dsbuild_deepspeed_ops-0.19.8-….whl"
  std::string dist_info() const;   // "dsbuild_deepspeed_ops-0.19.8.dist-info"
  bool operator==(const Package&) const = default;
};

// What a bundle does not say of its wheel.
struct PackageOptions {
  WheelIndex index = WheelIndex::pypi;
  std::optional<std::string> version{};           // nullopt: default_wheel_version
  std::string description{}, description_type{};  // "": made of the manifest
};

// Checks the bundle against its manifest first. Of ops that are compiled against torch it holds the Python
// modules, of others the libraries as they are; an entry point of the group `dsbuild.bundles` names its
// folder for dsbuild.load (python/dsbuild). `loader`: the folder with the Python files that go along
// (templates/wheel). Errors: exit 1 as of load_manifest, and `damaged_bundle`; exit 2 `bad_version`; exit 3
// `no_python_module`.
Result<Package> make_package(const Path& bundle, const Path& loader, const PackageOptions& options,
                             const FileReader& files);

// All files of an installed distribution: those of the package, then METADATA, WHEEL, INSTALLER (unless
// `installer` is empty), the other files of its .dist-info folder and, as the last one, RECORD with the
// digests of all.
std::vector<PackageFile> distribution_files(const Package& package, const std::string& installer);

// A zip archive of the files in their order. No times, no owners: the same files give the same bytes.
// Exit 1 `io` when there is no memory for it.
Result<std::string> make_zip(const std::vector<PackageFile>& files);

struct WrittenWheel {
  Path path;
  uint64_t bytes = 0;
};
// The wheel (PEP 427), whole or not at all, as `folder`/wheel_name().
Result<WrittenWheel> write_wheel(const Package& package, const Path& folder, FileSystem& files);

// Lays the distribution out in `target`, a site-packages, in the place of one of the same name. What Python
// loads changes in one step where the file system can do that. A killed run is healed by the next.
Result<void> install_package(const Package& package, const Path& target, FileSystem& files);

// Removes what install_package laid out in `target`: "dsbuild_deepspeed_ops-0.19.8" of each, sorted.
// Exit 1 `not_installed` if there is nothing.
Result<std::vector<std::string>> remove_packages(const Path& target, FileSystem& files);

}  // namespace dsbuild
