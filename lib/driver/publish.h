// Makes the manifest of a finished graph run, and puts the bundle into its place.
#pragma once

#include "bundle/bundle.h"
#include "driver/graph_run.h"

namespace dsbuild {

// The part of the manifest that is known before the build: all but the ops.
Manifest planned_manifest(const Survey& survey, const NeededTools& needed, const ArchPlan& archs);
// The manifest of the libraries that were built: facts of the plan, and the real contents of the files.
Result<Manifest> make_manifest(const Plan& plan, const std::vector<EdgeFailure>& failures, Session& session);

// A lock to hold while dsbuild replaces a folder that users see. Waits while a second dsbuild holds it.
Result<std::unique_ptr<FolderLock>> lock_published(const Path& folder, const Request& request,
                                                   FileSystem& files, Events& events);

// Publishes the bundle under its own lock, because two build folders may share an --out.
Result<Bundle> publish(const Plan& plan, const Manifest& manifest, Session& session);

}  // namespace dsbuild
