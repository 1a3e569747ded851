// Notes the ops that a program loads. DSBUILD_RECORD names a folder in which each process writes a small file
// for each op. A file is a workload of one op (settings/workload.h), and its name is its digest. It appears
// whole or not at all, so processes never disturb each other.
#pragma once

#include "load/load_op.h"
#include "settings/workload.h"

namespace dsbuild {

// Notes an op with the archs that a build for this machine would request, also if a prebuilt one was loaded.
// Errors: those of FileSystem; the op can be used nevertheless.
Result<void> note_load(const LoadRequest& request, const LoadedOp& loaded, FileSystem& files);

// All notes of a folder in one. Errors: those of FileReader and read_workload.
Result<Workload> read_notes(const Path& folder, const FileReader& files);

}  // namespace dsbuild
