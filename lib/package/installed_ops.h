// Writes the file in which DeepSpeed looks up which ops were built ahead of time, and for which versions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/manifest.h"

namespace dsbuild {

inline constexpr const char* k_installed_ops_path = "deepspeed/git_version_info_installed.py";

// Python text that sets version, git_hash, git_branch, installed_ops, accelerator_name and torch_info.
// nullopt when none of these ops is a module of the package `deepspeed`.
std::optional<std::string> render_installed_ops(const Manifest& manifest,
                                                const std::vector<std::string>& ops);

}  // namespace dsbuild
