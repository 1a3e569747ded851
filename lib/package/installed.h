// Finds ops that are installed in site-packages: dsbuild's wheels, and the ops of DeepSpeed's own build.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/manifest.h"
#include "sys/file_system.h"

namespace dsbuild {

struct InstalledWheel {
  std::string name;  // "dsbuild_deepspeed_ops"
  Path folder;       // its package, with the manifest
  Manifest manifest;
};
// The packages dsbuild_*_ops whose manifest can be read. Of two with the same name, the one in the earlier
// folder counts.
std::vector<InstalledWheel> find_installed_wheels(const std::vector<Path>& site_packages,
                                                  const FileReader& files);

struct InstalledDeepSpeed {
  Path folder;          // "/venv/lib/python3.11/site-packages/deepspeed"
  std::string version;  // "0.19.8"; "": unknown
  // The ops built with it (DS_BUILD_OPS=1), from its git_version_info_installed.py. ds_report lists them as
  // installed if DeepSpeed runs on the same accelerator.
  std::vector<std::string> ops;
  std::string accelerator;  // "cuda"
  std::string torch, cuda;  // "2.11", "13.0"; DeepSpeed writes "0.0" for none
};
// Searches the folders in order, and imports nothing.
std::optional<InstalledDeepSpeed> find_installed_deepspeed(const std::vector<Path>& folders,
                                                           const FileReader& files);

}  // namespace dsbuild
