// The build folder: marked as ours, locked, with the planned files written only where they differ.
#pragma once

#include <memory>

#include "driver/plan.h"
#include "sys/lock.h"

namespace dsbuild {

// Makes the folder, takes its lock and makes what is in it (marker, tmp/, log/). Exit 2 `foreign_build_dir`
// when it holds files and no marker of ours.
Result<std::unique_ptr<FolderLock>> open_build_folder(const Request& request, Session& session);

// build.ninja, check/*.json, tools/* and the link to the pack. Whether any of them was
// not there as it should be.
Result<bool> write_planned_files(const Plan& plan, FileSystem& files);

// The plan's graph, as Ninja reads it, without what killed runs of it left half written. Whether it was not
// so there. Errors: those of render_ninja.
Result<bool> write_graph(const BuildPlan& plan, const Path& folder, FileSystem& files);

// --out and the cache's folder: another's is exit 2 `foreign_out`, `foreign_cache_dir`.
Result<void> check_folders(const Settings& settings, FileSystem& files);

// The lock of a folder that a build made, without waiting for it. Errors: exit 1 `not_built` where there is
// no such folder; exit 75 `locked` while another dsbuild works in it.
Result<std::unique_ptr<FolderLock>> lock_if_built(const Request& request, const FileReader& files);

// false when there is none, or another dsbuild has removed it meanwhile. Exit 2 `foreign_build_dir` when the
// folder does not carry our marker.
Result<bool> remove_build_folder(const Request& request, FileSystem& files, Events& events);

}  // namespace dsbuild
