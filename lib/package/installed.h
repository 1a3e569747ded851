// Ops that are installed in site-packages: wheels of dsbuild's, and what DeepSpeed's own build left there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/manifest.h"
#include "sys/file_system.h"

namespace dsbuild {

struct InstalledWheel {
  std::string name;  // "dsbuild_deepspeed_ops"
  Path folder;       // its package, which holds the manifest
  Manifest manifest;
};
// Packages dsbuild_*_ops with a manifest that can be read; of two with one name the one in the earlier
// folder.
std::vector<InstalledWheel> find_installed_wheels(const std::vector<Path>& site_packages,
                                                  const FileReader& files);

struct InstalledDeepSpeed {
  Path folder;          // "/venv/lib/python3.11/site-packages/deepspeed"
  std::string version;  // "0.19.8"; "" where its files do not say it
  // What it was built with (DS_BUILD_OPS=1), as its git_version_info_installed.py says; ds_report calls these
  // installed where DeepSpeed runs on the same accelerator.
  std::vector<std::string> ops;
  std::string accelerator;  // "cuda"
  std::string torch, cuda;  // "2.11", "13.0"; DeepSpeed writes "0.0" for none
};
// In the first of these folders that has it. Nothing of it is imported.
std::optional<InstalledDeepSpeed> find_installed_deepspeed(const std::vector<Path>& folders,
                                                           const FileReader& files);

}  // namespace dsbuild
