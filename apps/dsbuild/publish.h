// From what the graph made to the bundle in its place.
#pragma once

#include "command.h"
#include "graph_run.h"
#include "stages.h"
#include "sys/lock.h"

namespace dsbuild {

// The manifest of the libraries that were built: planned facts, and what is really in the files.
Result<Manifest> make_manifest(Stages& stages, const std::vector<EdgeFailure>& failures,
                               const FileReader& files);

// Held while a folder that users see is replaced. Waits for another dsbuild that holds it.
Result<std::unique_ptr<FolderLock>> lock_published(const Path& folder, const Settings& settings,
                                                   const CommandContext& context);

// Under the bundle's own lock (two build folders may share an --out).
Result<Bundle> publish(Stages& stages, const Manifest& manifest, const CommandContext& context);

}  // namespace dsbuild
