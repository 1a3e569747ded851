// The build folder: marked as ours, locked, with the planned files written only where they differ.
#pragma once

#include <memory>

#include "command.h"
#include "ninja/dry_run.h"
#include "stages.h"
#include "sys/lock.h"

namespace dsbuild {

// Makes the folder (marker, tmp/, log/) and takes its lock. Exit 2 `foreign_build_dir` when it holds files
// and no marker of ours.
Result<std::unique_ptr<FolderLock>> open_build_folder(const Settings& settings,
                                                      const CommandContext& context);

// build.ninja, check/*.json, tools/*.id, source.id files and the link to the pack. Whether any of them was
// not there as it should be.
Result<bool> write_planned_files(const Stages& stages, FileSystem& files);

// Which edges of the op ("": of all) a build of this plan would run and why. Nothing is written but a
// temporary and the header sets (lib/slices/header_sets.h) that are not as their headers are. Errors: those
// of lock_if_built and dry_run.
Result<PendingEdges> find_pending_edges(const Stages& stages, const std::string& op, const Ninja& ninja,
                                        const CommandContext& context);

// The lock of a folder that a build made, without waiting for it. Errors: exit 1 `not_built` where there is
// no such folder; exit 75 `locked` while another dsbuild works in it.
Result<std::unique_ptr<FolderLock>> lock_if_built(const Settings& settings, const CommandContext& context);

// false when there is none. Exit 2 `foreign_build_dir` when the folder does not carry our marker.
Result<bool> remove_build_folder(const Settings& settings, const CommandContext& context);

}  // namespace dsbuild
