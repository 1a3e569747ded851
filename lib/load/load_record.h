// Which ops a program loads: DSBUILD_RECORD names a folder that gets a small file for each, whatever process
// loads it. A file is a workload of one op (settings/workload.h), named by its content, and appears whole or
// not at all: processes never disturb one another.
#pragma once

#include "load/load_op.h"
#include "settings/workload.h"

namespace dsbuild {

// Notes what was loaded, for the archs that a build for this machine is asked for, where a prebuilt one was
// taken, too. Errors: those of FileSystem; the op can be used all the same.
Result<void> note_load(const LoadRequest& request, const LoadedOp& loaded, FileSystem& files);

// All notes of a folder in one. Errors: those of FileReader and read_workload.
Result<Workload> read_notes(const Path& folder, const FileReader& files);

}  // namespace dsbuild
