// The build folder: its marker, its lock, and the planned files, which are written only if they differ.
#pragma once

#include <memory>

#include "driver/plan.h"
#include "sys/lock.h"

namespace dsbuild {

// Makes the folder, takes its lock, and makes the marker, tmp/ and log/ in it. Exit 2 `foreign_build_dir` if
// the folder has files but no marker of dsbuild.
Result<std::unique_ptr<FolderLock>> open_build_folder(const Request& request, Session& session);

// Writes build.ninja, check/*.json, tools/* and the links to the pack and the roots. Returns whether any of
// them was absent or different.
Result<bool> write_planned_files(const Plan& plan, FileSystem& files);

// Writes the graph's file for Ninja, and removes the temporary files that killed runs left. Returns whether
// the file was absent or different. Errors: those of render_ninja.
Result<bool> write_graph(const BuildPlan& plan, const Path& folder, FileSystem& files);

// Checks that dsbuild may write --out and the cache's folder. Exit 2 `foreign_out` or `foreign_cache_dir` if
// one has files that are not dsbuild's.
Result<void> check_folders(const Settings& settings, FileSystem& files);

// Takes the lock of a folder that a build made; does not wait. Errors: exit 1 `not_built` if there is no such
// folder; exit 75 `locked` if a second dsbuild works in it.
Result<std::unique_ptr<FolderLock>> lock_if_built(const Request& request, const FileReader& files);

// Returns false if there is no such folder, or if a second dsbuild has just removed it. Exit 2
// `foreign_build_dir` if the folder has no marker of dsbuild.
Result<bool> remove_build_folder(const Request& request, FileSystem& files, Events& events);

}  // namespace dsbuild
