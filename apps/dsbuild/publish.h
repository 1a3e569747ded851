// From what the graph made to the bundle in its place.
#pragma once

#include "command.h"
#include "graph_run.h"
#include "stages.h"

namespace dsbuild {

// The manifest of the libraries that were built: planned facts, and what is really in the files.
Result<Manifest> make_manifest(Stages& stages, const std::vector<EdgeFailure>& failures,
                               const FileReader& files);

// Under the bundle's own lock (two build folders may share an --out).
Result<Bundle> publish(Stages& stages, const Manifest& manifest, const CommandContext& context);

}  // namespace dsbuild
