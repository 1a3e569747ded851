// From what the graph made to the bundle in its place.
#pragma once

#include "bundle/bundle.h"
#include "driver/graph_run.h"

namespace dsbuild {

// The manifest as far as it is known before anything is built: without ops.
Manifest planned_manifest(const Survey& survey, const NeededTools& needed, const ArchPlan& archs);
// The manifest of the libraries that were built: planned facts, and what is really in the files.
Result<Manifest> make_manifest(const Plan& plan, const std::vector<EdgeFailure>& failures, Session& session);

// Held while a folder that users see is replaced. Waits for another dsbuild that holds it.
Result<std::unique_ptr<FolderLock>> lock_published(const Path& folder, const Request& request,
                                                   FileSystem& files, Events& events);

// Under the bundle's own lock (two build folders may share an --out).
Result<Bundle> publish(const Plan& plan, const Manifest& manifest, Session& session);

}  // namespace dsbuild
